import type { Queryable, Transaction } from '@referrer/database'
import type { Context } from '../../kit/context.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import { type PurchaseRow, purchaseColumns } from '../../market/escrows/purchase.ts'
import type { Change } from '../following/following.ts'

type Announced = Extract<Change, { what: 'purchase' | 'review' | 'ballot' }>

const isAnnounced = (change: Change): change is Announced =>
  change.what === 'purchase' || change.what === 'review' || change.what === 'ballot'

const hasWebhook = async (sql: Queryable, chainId: number): Promise<boolean> =>
  (await sql`SELECT FROM market.webhooks WHERE chain_id = ${chainId} AND disabled_at IS NULL LIMIT 1`).count >
  0

/**
 * Keeps changes, if a webhook of the chain is enabled. A record has one row, the newest: however often somebody changes it, the queue gets no
 * longer. Rows that the announcer is deleting are left to it. Changes of a chain are followed by one process at a time, so nobody else inserts.
 */
export async function queueChanges(
  tx: Transaction,
  chainId: number,
  changes: readonly Change[],
  now: Date,
): Promise<void> {
  const some = changes.filter(isAnnounced)
  // A statement of its own: without a webhook, to send the changes to the server would cost more than the rest.
  if (some.length === 0 || !(await hasWebhook(tx, chainId))) return
  const purchase = (change: Announced) => (change.what === 'purchase' ? change : undefined)
  const subject = (change: Announced) => {
    if (change.what === 'purchase') return null
    return change.what === 'review' ? change.internalId : change.ballotId
  }
  await tx`
    WITH changed AS MATERIALIZED (
      SELECT * FROM unnest(
        ${some.map(({ what }) => what)}::text[], ${some.map(subject)}::bigint[],
        ${some.map((change) => purchase(change)?.contract ?? null)}::bytea[],
        ${some.map((change) => purchase(change)?.payer ?? null)}::bytea[],
        ${some.map((change) => purchase(change)?.nonce ?? null)}::bytea[]
      ) WITH ORDINALITY AS c (what, subject, contract, payer, nonce, position)
    ), older AS (
      DELETE FROM market.webhook_changes WHERE id = ANY(ARRAY(
        SELECT q.id FROM changed AS c CROSS JOIN LATERAL (
          SELECT id FROM market.webhook_changes AS q
          WHERE q.chain_id = ${chainId} AND q.what = c.what
            AND coalesce(q.nonce, int8send(q.subject)) = coalesce(c.nonce, int8send(c.subject))
            AND q.payer IS NOT DISTINCT FROM c.payer AND q.contract IS NOT DISTINCT FROM c.contract
          FOR UPDATE SKIP LOCKED) AS q))
    )
    INSERT INTO market.webhook_changes (chain_id, what, subject, contract, payer, nonce, queued_at)
    SELECT ${chainId}, what, subject, contract, payer, nonce, ${now}::timestamptz FROM changed ORDER BY position`
}

const KEPT_HOURS = 48
const SWEPT_AT_ONCE = 1_000

/** Deletes changes that nobody has announced: the process that had the keys is gone, or they wait for what never comes. */
export const sweepChanges = ({ clock }: Pick<Context, 'clock'>): Schedule => ({
  name: 'sweep-webhook-changes',
  everySeconds: 3_600,
  async run({ signal, sql }) {
    const before = new Date(clock() - KEPT_HOURS * 3_600_000)
    let count = SWEPT_AT_ONCE
    while (count === SWEPT_AT_ONCE && !signal.aborted) {
      ;({ count } = await sql`
        DELETE FROM market.webhook_changes WHERE id = ANY(ARRAY(
          SELECT id FROM (SELECT id, queued_at FROM market.webhook_changes ORDER BY id LIMIT ${SWEPT_AT_ONCE}) AS oldest
          WHERE queued_at < ${before}))`)
    }
  },
})

export type QueuedChange = {
  id: bigint
  what: Announced['what']
  subject: bigint | null
  contract: Buffer | null
  payer: Buffer | null
  nonce: Buffer | null
  queued_at: Date
}

export const hasQueued = async (sql: Queryable, chainId: number): Promise<boolean> =>
  (await sql`SELECT FROM market.webhook_changes WHERE chain_id = ${chainId} LIMIT 1`).count > 0

/** False: another replica does it. Messages of a chain are made by one at a time, so that they have an order. */
export async function lockAnnouncing(tx: Transaction, chainId: number): Promise<boolean> {
  const [lock] = await tx<{ held: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${`webhooks of ${chainId}`}, 0)) AS held`
  return lock?.held ?? false
}

/** The first ones behind a change. */
export const readQueued = (
  tx: Transaction,
  chainId: number,
  { after, limit }: { after: bigint; limit: number },
): Promise<QueuedChange[]> =>
  tx<QueuedChange[]>`
    SELECT id, what, subject, contract, payer, nonce, queued_at FROM market.webhook_changes
    WHERE chain_id = ${chainId} AND id > ${after} ORDER BY id LIMIT ${limit}`

export async function deleteQueued(tx: Transaction, ids: readonly bigint[]): Promise<void> {
  if (ids.length > 0) await tx`DELETE FROM market.webhook_changes WHERE id = ANY(${[...ids]}::bigint[])`
}

/** Where and how deep we look. */
export interface Depth {
  chainId: number
  confirmations: number
}

/**
 * The keys of rows of a mirrored table that blocks changed which do not have enough confirmations yet. A change of a row is in the undo
 * records until its block is final, which is deeper.
 */
const unconfirmed = (sql: Queryable, { chainId, confirmations }: Depth, table: string) => sql`
  SELECT key FROM indexer.undo WHERE chain_id = ${chainId} AND relation = ${table}::regclass
    AND block_number > (SELECT block_number - ${confirmations} + 1 FROM indexer.checkpoints WHERE chain_id = ${chainId})`

const isConfirmedEscrow = (sql: Queryable, depth: Depth) => sql`
  jsonb_build_object('chain_id', e.chain_id, 'contract', e.contract, 'escrow_id', e.escrow_id)
    NOT IN (${unconfirmed(sql, depth, 'chain.escrows')})`

const isConfirmedReview = (sql: Queryable, depth: Depth) => sql`
  jsonb_build_object('chain_id', c.chain_id, 'review_id', c.review_id) NOT IN (${unconfirmed(sql, depth, 'chain.reviews')})`

const ownerOf = (sql: Queryable, id: ReturnType<Queryable>) => sql`
  (SELECT owner FROM chain.identities AS i WHERE i.chain_id = e.chain_id AND i.agent_id = ${id})`

export type SettledRow = PurchaseRow & {
  id: bigint
  is_confirmed: boolean
  contract: Buffer
  nonce: Buffer
  settled_at: Date | null
  held_back_to_reviewer: bigint | null
  held_back_to_treasury: bigint | null
  cashback_to_buyer: bigint | null
  cashback_to_reviewer: bigint | null
  merchant_owner: Buffer | null
  reviewer_owner: Buffer | null
  buyer_owner: Buffer | null
}

/** The purchases of changes, with their present owners. One that the chain has dropped has no row. */
export async function readPurchases(
  sql: Queryable,
  depth: Depth,
  changes: readonly QueuedChange[],
): Promise<SettledRow[]> {
  const some = changes.filter(({ what }) => what === 'purchase')
  if (some.length === 0) return []
  return sql<SettledRow[]>`
    SELECT p.id, ${isConfirmedEscrow(sql, depth)} AS is_confirmed, ${purchaseColumns(sql)}, e.contract, e.nonce,
      e.settled_at, e.held_back_to_reviewer, e.held_back_to_treasury, e.cashback_to_buyer, e.cashback_to_reviewer,
      ${ownerOf(sql, sql`e.merchant_id`)} AS merchant_owner, ${ownerOf(sql, sql`e.reviewer_agent_id`)} AS reviewer_owner,
      CASE WHEN e.buyer_agent_id IS NULL THEN e.payer ELSE ${ownerOf(sql, sql`e.buyer_agent_id`)} END AS buyer_owner
    FROM unnest(${some.map(({ id }) => id)}::bigint[], ${some.map(({ contract }) => contract)}::bytea[],
      ${some.map(({ payer }) => payer)}::bytea[], ${some.map(({ nonce }) => nonce)}::bytea[]) AS p (id, contract, payer, nonce)
    -- LIMIT 1 forces an index lookup per row; with a plain join the planner may scan the whole table.
    CROSS JOIN LATERAL (
      SELECT * FROM chain.escrows
      WHERE chain_id = ${depth.chainId} AND payer = p.payer AND nonce = p.nonce AND contract = p.contract LIMIT 1) AS e`
}

export type ReviewRow = {
  id: bigint
  is_confirmed: boolean
  internal_id: bigint
  review_id: bigint
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  satisfaction_score: number | null
  comparison_outcome: string
  published_at: Date
  edited_at: Date | null
  has_text: boolean
  /** Of the text, when it is the one that the chain names. */
  content_hash: Buffer | null
  /** How many earlier edits had this text. */
  same_before: number
  disputed_at: Date | null
  resolved_at: Date | null
  upheld: boolean | null
  merchant_owner: Buffer | null
  author_owner: Buffer | null
}

/** Older edits of a review are not looked at, because everybody can make as many as they pay gas for. */
const MOST_EDITS = 1_000

/** The reviews of changes that are on the chain, with their disputes and present owners. */
export async function readReviews(
  sql: Queryable,
  depth: Depth,
  changes: readonly QueuedChange[],
): Promise<ReviewRow[]> {
  const some = changes.filter(({ what }) => what === 'review')
  if (some.length === 0) return []
  return sql<ReviewRow[]>`
    SELECT p.id, ${isConfirmedReview(sql, depth)} AS is_confirmed, m.internal_id, c.review_id, m.agent_id, m.merchant_id, m.product_id,
      m.satisfaction_score, m.comparison_outcome, c.published_at, c.edited_at, m.content IS NOT NULL AS has_text,
      CASE WHEN m.content_hash = c.content_hash THEN m.content_hash END AS content_hash,
      (SELECT greatest(count(*) - 1, 0)::integer FROM (
        SELECT content_hash FROM chain.review_edits AS n WHERE n.chain_id = c.chain_id AND n.review_id = c.review_id
        ORDER BY block_number DESC, log_index DESC LIMIT ${MOST_EDITS}) AS edits
        WHERE edits.content_hash = c.content_hash) AS same_before,
      d.opened_at AS disputed_at, r.decided_at AS resolved_at, r.upheld,
      ${ownerOf(sql, sql`m.merchant_id`)} AS merchant_owner, ${ownerOf(sql, sql`m.agent_id`)} AS author_owner
    FROM unnest(${some.map(({ id }) => id)}::bigint[], ${some.map(({ subject }) => subject)}::bigint[]) AS p (id, subject)
    CROSS JOIN LATERAL (SELECT * FROM chain.reviews WHERE internal_id = p.subject LIMIT 1) AS c
    CROSS JOIN LATERAL (SELECT * FROM market.reviews WHERE internal_id = p.subject LIMIT 1) AS m
    CROSS JOIN LATERAL (SELECT m.chain_id) AS e
    LEFT JOIN LATERAL (SELECT opened_at FROM market.disputes WHERE internal_id = p.subject LIMIT 1) AS d ON true
    LEFT JOIN LATERAL (SELECT decided_at, upheld FROM market.dispute_decisions WHERE internal_id = p.subject LIMIT 1) AS r ON true`
}

export type VoteRow = {
  id: bigint
  is_confirmed: boolean
  ballot_id: bigint
  review_internal_id: bigint
  /** Null: the review is not on the chain now. */
  review_id: bigint | null
  author_agent_id: bigint
  voter_agent_id: bigint
  escrow_id: bigint
  merchant_id: bigint
  product_id: Buffer
  reasoning: string
  qualifies: boolean
  cast_at: Date
  author_owner: Buffer | null
}

/** The votes of ballots whose purchases are on the chain, with the present owners of the authors. */
export async function readVotes(
  sql: Queryable,
  depth: Depth,
  changes: readonly QueuedChange[],
): Promise<VoteRow[]> {
  const some = changes.filter(({ what }) => what === 'ballot')
  if (some.length === 0) return []
  return sql<VoteRow[]>`
    SELECT p.id, ${isConfirmedEscrow(sql, depth)} AS is_confirmed, b.ballot_id, v.review_internal_id, v.author_agent_id,
      v.voter_agent_id, e.escrow_id, e.merchant_id, e.product_id, v.reasoning, v.qualifies, v.cast_at,
      (SELECT review_id FROM chain.reviews AS c WHERE c.internal_id = v.review_internal_id) AS review_id,
      ${ownerOf(sql, sql`v.author_agent_id`)} AS author_owner
    FROM unnest(${some.map(({ id }) => id)}::bigint[], ${some.map(({ subject }) => subject)}::bigint[]) AS p (id, subject)
    CROSS JOIN LATERAL (SELECT * FROM market.ballots WHERE ballot_id = p.subject LIMIT 1) AS b
    CROSS JOIN LATERAL (
      SELECT * FROM chain.escrows
      WHERE chain_id = ${depth.chainId} AND payer = b.payer AND nonce = b.nonce AND contract = b.contract LIMIT 1) AS e
    JOIN market.votes AS v ON v.ballot_id = b.ballot_id
    ORDER BY p.id, v.position`
}

/** An enabled webhook, as far as it decides what is sent there. */
export type Listening = {
  webhook_id: string
  owner: Buffer
  events: string[] | null
  agent_id: bigint | null
  merchant_id: bigint | null
  created_at: Date
}

export async function webhooksOf(
  sql: Queryable,
  chainId: number,
  owners: readonly Buffer[],
): Promise<Listening[]> {
  if (owners.length === 0) return []
  return sql<Listening[]>`
    SELECT webhook_id, owner, events, agent_id, merchant_id, created_at FROM market.webhooks
    WHERE owner = ANY(${[...owners]}::bytea[]) AND chain_id = ${chainId} AND disabled_at IS NULL
    ORDER BY webhook_id`
}
