// Ranks and the oracle's decisions derive from votes, reviews, purchases and identities. Triggers write every change of these into the
// queue `market.pending_changes`, in the transaction that makes it. The worker here takes the changes in batches and gives them to the
// followers, which compute what derives from them. They compute from the records as they are then, so a batch may be repeated: after a
// crash, a deadlock or a lost connection it is.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Transaction } from '@referrer/database'
import type { Chain, Context } from '../../kit/context.ts'
import { COUNTED } from '../../machinery/db/counts.ts'
import { despiteDeadlock } from '../../machinery/db/deadlock.ts'
import type { Frame, Worker } from '../../machinery/workers/frame.ts'

/** A change of one record. A purchase is identified by its payment. */
export type Change =
  | { what: 'review'; internalId: bigint }
  | { what: 'ballot'; ballotId: bigint }
  /** The owner or the flag of an agent has changed. */
  | { what: 'agent'; agentId: bigint }
  /**
   * The flag alone has changed. Many records can depend on the flag; they are not recomputed when an agent is only
   * sold.
   */
  | { what: 'flag'; agentId: bigint }
  | { what: 'merchant'; merchantId: bigint }
  | { what: 'product'; merchantId: bigint; productId: Buffer }
  /** A field of a product has changed that discovery shows but that no rank depends on. */
  | { what: 'listing'; merchantId: bigint; productId: Buffer }
  | {
      what: 'purchase'
      contract: Buffer
      payer: Buffer
      nonce: Buffer
      merchantId: bigint
      productId: Buffer
    }

export interface Batch {
  tx: Transaction
  chain: Chain
  changes: readonly Change[]
  now: Date
}

type Scope = Omit<Batch, 'changes'>

export interface Follower {
  /** Recomputes what depends on these changes. */
  follow(batch: Batch): Promise<void>
  /** Recomputes something that is out of date because a day has passed. False: nothing is out of date. */
  refresh?(batch: Scope): Promise<boolean>
}

type FollowingContext = Pick<Context, 'sql' | 'clock'>

const BATCH_SIZE = 500
/** The longest polling interval; a chain with a shorter one has its changes polled as often as the chain. */
const POLL_MS = 250
const RETRY_MS = 1_000
/** Only a new day makes results out of date, so the worker looks for those more rarely than for changes. */
const POLLS_TO_REFRESH = 20

/** Only one replica at a time follows a chain: a batch holds a lock until it is committed. */
export function createFollowing(
  context: FollowingContext,
  chain: Chain,
  followers: readonly Follower[],
): Worker {
  const pollMs = Math.min(POLL_MS, chain.config.pollIntervalMs)
  let refreshAt = 0

  /**
   * True: this replica had something to do and did it. Each pass does both, so that neither changes nor the daily
   * refresh can starve the other.
   */
  async function pass(): Promise<boolean> {
    let isDone = false
    if (performance.now() >= refreshAt) {
      isDone = await refreshOnce(context, chain, followers)
      if (!isDone) refreshAt = performance.now() + POLLS_TO_REFRESH * pollMs
    }
    const { count } = await context.sql`
      SELECT FROM market.pending_changes WHERE chain_id = ${chain.config.chainId} LIMIT 1`
    return (count > 0 && (await followOnce(context, chain, followers))) || isDone
  }

  async function run(signal: AbortSignal, frame: Frame): Promise<void> {
    while (!signal.aborted) {
      let pause: number
      try {
        pause = (await pass()) ? 0 : pollMs
        frame.working()
      } catch (error) {
        frame.failing(error)
        pause = RETRY_MS
      }
      if (pause > 0) await sleep(pause, undefined, { signal }).catch(() => {})
    }
  }
  return { name: `following ${chain.config.chainId}`, run }
}

const lockOf = (tx: Transaction, chainId: number) => tx`hashtextextended(${`following/${chainId}`}, 0)`

/** Keeps all other replicas from following the chain until the transaction ends. */
export async function lockFollowing(tx: Transaction, chainId: number): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(${lockOf(tx, chainId)})`
}

/**
 * Processes one batch of changes or, if there are none, one batch of out-of-date results. False: there was nothing to
 * do, or another replica holds the lock.
 */
export const followOnce = (
  context: FollowingContext,
  chain: Chain,
  followers: readonly Follower[],
): Promise<boolean> =>
  alone(context, chain, async (batch) => (await take(batch, followers)) || refresh(batch, followers))

const refreshOnce = (context: FollowingContext, chain: Chain, followers: readonly Follower[]) =>
  alone(context, chain, (batch) => refresh(batch, followers))

async function take(batch: Scope, followers: readonly Follower[]): Promise<boolean> {
  const { tx, chain } = batch
  const rows = await tx<ChangeRow[]>`
    SELECT id, what, subject, contract, payer, nonce, merchant_id, product_id
    FROM market.pending_changes WHERE chain_id = ${chain.config.chainId} ORDER BY id LIMIT ${BATCH_SIZE}`
  if (rows.length === 0) return false
  const changes = distinct(rows)
  for (const follower of followers) await follower.follow({ ...batch, changes })
  await tx`DELETE FROM market.pending_changes WHERE id = ANY(${rows.map(({ id }) => id)}::bigint[])`
  return true
}

async function refresh(batch: Scope, followers: readonly Follower[]): Promise<boolean> {
  for (const follower of followers) if (await follower.refresh?.(batch)) return true
  return false
}

/** Runs in one transaction under the followers' lock. Also false when another replica holds the lock. */
const alone = (
  { sql, clock }: FollowingContext,
  chain: Chain,
  work: (batch: Scope) => Promise<boolean>,
): Promise<boolean> =>
  despiteDeadlock(() =>
    sql.begin(async (tx) => {
      const [lock] = await tx<{ held: boolean }[]>`
        SELECT pg_try_advisory_xact_lock(${lockOf(tx, chain.config.chainId)}) AS held`
      return lock?.held ? work({ tx, chain, now: new Date(clock()) }) : false
    }),
  )

/** The number of changes that wait for the followers, by chain, counted up to a limit. */
export const countPendingChanges = ({ sql, chains }: Pick<Context, 'sql' | 'chains'>) => sql<
  { chainId: number; count: number }[]
>`
  SELECT chain.id::float8 AS "chainId",
    (SELECT count(*)::integer FROM (SELECT FROM market.pending_changes WHERE chain_id = chain.id LIMIT ${COUNTED}) AS counted) AS count
  FROM unnest(${[...chains.keys()]}::bigint[]) AS chain (id)`

type ChangeRow = { id: bigint } & (
  | { what: 'review' | 'ballot' | 'agent' | 'flag' | 'merchant'; subject: bigint }
  | { what: 'product' | 'listing'; merchant_id: bigint; product_id: Buffer }
  | {
      what: 'purchase'
      contract: Buffer
      payer: Buffer
      nonce: Buffer
      merchant_id: bigint
      product_id: Buffer
    }
)

function distinct(rows: readonly ChangeRow[]): Change[] {
  return [...new Map(rows.map((row) => [nameOf(row), changeOf(row)])).values()]
}

const spell = (...bytes: Buffer[]) => bytes.map((piece) => piece.toString('hex')).join('/')

function nameOf(row: ChangeRow): string {
  switch (row.what) {
    case 'purchase':
      return `purchase/${spell(row.contract, row.payer, row.nonce)}`
    case 'product':
    case 'listing':
      return `${row.what}/${row.merchant_id}/${spell(row.product_id)}`
    default:
      return `${row.what}/${row.subject}`
  }
}

function changeOf(row: ChangeRow): Change {
  switch (row.what) {
    case 'review':
      return { what: 'review', internalId: row.subject }
    case 'ballot':
      return { what: 'ballot', ballotId: row.subject }
    case 'agent':
    case 'flag':
      return { what: row.what, agentId: row.subject }
    case 'merchant':
      return { what: 'merchant', merchantId: row.subject }
    case 'product':
    case 'listing':
      return { what: row.what, merchantId: row.merchant_id, productId: row.product_id }
    case 'purchase': {
      const { contract, payer, nonce, merchant_id: merchantId, product_id: productId } = row
      return { what: 'purchase', contract, payer, nonce, merchantId, productId }
    }
  }
}
