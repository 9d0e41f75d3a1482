// Cashback is released as soon as it is earned. That is when the review that led to the purchase pledges it, an agent
// made the purchase, the buyer's review of it is published, and the buyer has voted if there was something to vote
// on.
import type { Queryable, Transaction } from '@referrer/database'
import type { Address } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { whole } from '../../kit/json-values.ts'
import { BY_ESCROW } from '../../market/escrows/buyer-review.ts'
import { nameOf, votesMissing } from '../../market/votes/gate.ts'
import type { Batch, Change } from '../following/following.ts'
import { reviewsOf } from './comparisons.ts'
import type { Decision, Undecided } from './decision.ts'
import {
  type By,
  enterDecisions,
  lastDecision,
  lockDecisions,
  mayDecide,
  undecided,
} from './decisions-store.ts'

const PAGE = 200

type Releasable = Undecided & { buyer_agent_id: bigint; buyer_review: bigint }

/** Releases cashback that one of the changes may have earned. */
export async function releaseAfterChanges(
  { tx, chain, changes, now }: Batch,
  from: Address | undefined,
): Promise<void> {
  if (!from) return
  await lockDecisions(tx, chain.config.chainId)
  await release(tx, chain, { from, now }, touched(tx, chain, changes))
}

/** The escrows, by contract and id, of the purchases, ballots and buyers' reviews that changed. */
function touched(sql: Queryable, { config: { chainId } }: Chain, changes: readonly Change[]) {
  const purchases = changes.filter((change) => change.what === 'purchase')
  const ballots = changes.filter((change) => change.what === 'ballot').map(({ ballotId }) => ballotId)
  return sql`
    SELECT e.contract, e.escrow_id
    FROM unnest(
      ${purchases.map(({ contract }) => contract)}::bytea[], ${purchases.map(({ payer }) => payer)}::bytea[],
      ${purchases.map(({ nonce }) => nonce)}::bytea[]) AS p (contract, payer, nonce)
    JOIN chain.escrows AS e
      ON e.chain_id = ${chainId} AND e.payer = p.payer AND e.nonce = p.nonce AND e.contract = p.contract
    UNION
    SELECT e.contract, e.escrow_id FROM market.ballots AS b
    JOIN chain.escrows AS e
      ON e.chain_id = ${chainId} AND e.payer = b.payer AND e.nonce = b.nonce AND e.contract = b.contract
    WHERE b.ballot_id = ANY(${ballots}::bigint[])
    UNION
    SELECT e.contract, e.escrow_id FROM chain.reviews AS c
    JOIN chain.escrows AS e ON e.chain_id = ${chainId} AND e.escrow_id = c.proof_id
    WHERE c.internal_id = ANY(${reviewsOf(changes)}::bigint[]) AND c.proof_kind = ${BY_ESCROW}`
}

/**
 * Retries releases whose back-off has passed, a page at a time. Returns the cursor of the next page; undefined: this
 * was the last.
 */
export function retryReleases(
  context: Pick<Context, 'sql' | 'clock'>,
  chain: Chain,
  from: Address,
  after: RetryCursor | undefined,
): Promise<RetryCursor | undefined> {
  const { chainId } = chain.config
  const now = new Date(context.clock())
  return context.sql.begin(async (tx) => {
    await lockDecisions(tx, chainId)
    const page = await tx<(RetryCursor & { contract: Buffer; escrow_id: bigint })[]>`
      SELECT d.payer, d.nonce, d.contract, e.escrow_id
      FROM market.escrow_decisions AS d
      JOIN sender.intents AS i ON i.id = d.transaction_id AND i.state IN ('failed', 'confirmed')
      JOIN chain.escrows AS e
        ON e.chain_id = ${chainId} AND e.payer = d.payer AND e.nonce = d.nonce AND e.contract = d.contract
      WHERE d.chain_id = ${chainId} AND d.kind = 'release' AND d.is_open
        ${after ? tx`AND (d.payer, d.nonce, d.contract) > (${after.payer}, ${after.nonce}, ${after.contract})` : tx``}
      ORDER BY d.payer, d.nonce, d.contract LIMIT ${PAGE}`
    await release(tx, chain, { from, now }, named(tx, page))
    return page.length === PAGE ? page.at(-1) : undefined
  })
}

/** The cursor of `retryReleases`. */
export type RetryCursor = { payer: Buffer; nonce: Buffer; contract: Buffer }

/** Checks all escrows with unreleased cashback, also those without a queued change. Pages like `retryReleases`. */
export function releaseUnannounced(
  context: Pick<Context, 'sql' | 'clock'>,
  chain: Chain,
  from: Address,
  after: ReleaseCursor | undefined,
): Promise<ReleaseCursor | undefined> {
  const { chainId } = chain.config
  const now = new Date(context.clock())
  return context.sql.begin(async (tx) => {
    await lockDecisions(tx, chainId)
    const page = await tx<ReleaseCursor[]>`
      SELECT escrow_id, contract FROM chain.escrows
      WHERE chain_id = ${chainId} AND buyer_agent_id IS NOT NULL AND cashback > 0 AND cashback_released_at IS NULL
        AND settled_at IS NULL
        ${after ? tx`AND (escrow_id, contract) > (${after.escrow_id}, ${after.contract})` : tx``}
      ORDER BY escrow_id, contract LIMIT ${PAGE}`
    await release(tx, chain, { from, now }, named(tx, page))
    return page.length === PAGE ? page.at(-1) : undefined
  })
}

/** The cursor of `releaseUnannounced`. */
export type ReleaseCursor = { escrow_id: bigint; contract: Buffer }

/** A query for escrows, by contract and id. */
type Escrows = ReturnType<typeof named>

/** Each escrow once: several attempts for one may have failed. */
const named = (sql: Queryable, page: readonly ReleaseCursor[]) => sql`
  SELECT DISTINCT * FROM unnest(
    ${page.map(({ contract }) => contract)}::bytea[], ${page.map(({ escrow_id }) => escrow_id)}::bigint[])`

/**
 * Those of the given escrows whose cashback is unreleased and earned except for the votes, with no transaction under
 * way.
 */
function findReleasable(
  sql: Queryable,
  { config: { chainId } }: Chain,
  by: By,
  among: Escrows,
): Promise<Releasable[]> {
  return sql<Releasable[]>`
    SELECT * FROM (
      SELECT ${undecided(sql, chainId)}
      FROM (${among}) AS asked (contract, escrow_id)
      JOIN chain.escrows AS e
        ON e.chain_id = ${chainId} AND e.escrow_id = asked.escrow_id AND e.contract = asked.contract
      LEFT JOIN ${lastDecision(sql, chainId, 'release')} ON true
      WHERE e.buyer_agent_id IS NOT NULL AND e.cashback > 0 AND e.cashback_released_at IS NULL AND e.settled_at IS NULL
        AND ${mayDecide(sql, chainId, by)}
        -- A settlement that was sent is mined before a release could be; one still queued pays the cashback if that was earned when it was decided.
        AND NOT EXISTS (
          SELECT FROM market.escrow_decisions AS d JOIN sender.intents AS i ON i.id = d.transaction_id
          WHERE d.chain_id = ${chainId} AND d.payer = e.payer AND d.nonce = e.nonce AND d.contract = e.contract
            AND d.kind = 'settle' AND (i.state = 'sent' OR (i.state = 'enqueued' AND d.cashback_earned)))
    ) AS open WHERE buyer_review IS NOT NULL AND is_pledged`
}

/** Releases the cashback that is earned. The caller must hold the lock of `lockDecisions`. */
async function release(tx: Transaction, chain: Chain, by: By, among: Escrows): Promise<void> {
  const escrows = await findReleasable(tx, chain, by, among)
  const withoutVotes = await votesMissing(tx, chain.config.chainId, escrows)
  const earned = escrows.filter((escrow) => !withoutVotes.has(nameOf(escrow)))
  await enterDecisions(tx, chain, by, earned.map(decisionOf))
}

const decisionOf = (escrow: Releasable): Decision => ({
  escrow,
  kind: 'release',
  contradicted: false,
  cashbackEarned: true,
  inputs: {
    buyer_agent_id: whole(escrow.buyer_agent_id),
    buyer_review_internal_id: whole(escrow.buyer_review),
    votes_missing: false,
    cashback_pledged: true,
  },
})
