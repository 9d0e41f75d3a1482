import type { Transaction } from '@referrer/database'
import type { EventOf } from '../../kit/events.ts'
import {
  arrayOf,
  Changes,
  type ColumnType,
  insertRows,
  type Row,
  type Table,
  type Value,
  writeChanges,
} from '../../machinery/db/rows.ts'

export type ReviewEvent = EventOf<'ReviewRegistry'>
type Published = Extract<ReviewEvent, { name: 'ReviewPublished' }>

const reviews: Table = {
  name: 'chain.reviews',
  key: { chain_id: 'bigint', review_id: 'bigint' },
  columns: {
    internal_id: 'bigint',
    agent_id: 'bigint',
    merchant_id: 'bigint',
    product_id: 'bytea',
    content_hash: 'bytea',
    proof_kind: 'integer',
    proof_id: 'bigint',
    published_at: 'time',
    block_number: 'bigint',
    log_index: 'integer',
    edited_at: 'time',
  },
}

const edits: Table = {
  name: 'chain.review_edits',
  key: { chain_id: 'bigint', block_number: 'bigint', log_index: 'integer' },
  columns: { review_id: 'bigint', previous_hash: 'bytea', content_hash: 'bytea', edited_at: 'time' },
}

/** Creates the ref links of reviews that this transaction indexes and whose text is known. */
export type Link = (tx: Transaction, internalIds: readonly bigint[]) => Promise<void>

/** Indexes published and edited reviews. */
export async function applyReviewEvents(
  tx: Transaction,
  chainId: number,
  events: ReviewEvent[],
  isFinal: boolean,
  link: Link,
): Promise<void> {
  const published = events.filter((event) => event.name === 'ReviewPublished')
  const entered = await enterReviews(tx, chainId, published, isFinal)
  const rows = new Changes()
  const edited: Row[] = []
  for (const event of events) {
    const key = { chain_id: chainId, review_id: event.args.reviewId }
    const position = { block_number: event.blockNumber, log_index: event.logIndex }
    if (event.name === 'ReviewPublished') {
      const { agentId, merchantId, productId, contentHash, proofKind, proofId } = event.args
      rows.create(key, {
        internal_id: entered.get(event)?.internal_id ?? null,
        agent_id: agentId,
        merchant_id: merchantId,
        product_id: productId,
        content_hash: contentHash,
        proof_kind: proofKind,
        proof_id: proofId,
        published_at: event.timestamp,
        ...position,
      })
    } else {
      const { previousHash, contentHash, editedAt } = event.args
      rows.change(key, { content_hash: contentHash, edited_at: editedAt })
      edited.push({
        ...key,
        ...position,
        previous_hash: previousHash,
        content_hash: contentHash,
        edited_at: editedAt,
      })
    }
  }
  const known = [...entered.values()].filter(({ hasText }) => hasText)
  await Promise.all([writeChanges(tx, reviews, rows), insertRows(tx, edits, edited)])
  await link(
    tx,
    known.map(({ internal_id }) => internal_id),
  )
}

/**
 * Inserts a row of `market.reviews` for every published review, with the author's present cashback rate and the author's owner at
 * publication. A review that was submitted here before, or that a reorganisation moved, keeps its row. Returns the rows.
 */
async function enterReviews(
  tx: Transaction,
  chainId: number,
  published: Published[],
  isFinal: boolean,
): Promise<Map<Published, Entered>> {
  if (published.length === 0) return new Map()
  const column = (type: ColumnType, pick: (event: Published) => Value) => arrayOf(type, published.map(pick))
  const before = new Map<string, number>()
  const repeated = new Map(
    published.map((event) => {
      const key = recordKey(event.args)
      const count = before.get(key) ?? 0
      before.set(key, count + 1)
      return [event, count]
    }),
  )
  const rows = await tx<Entered[]>`
    INSERT INTO market.reviews AS old
      (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, author_owner, learned_in, repeated)
    SELECT ${chainId}, e.agent_id, e.merchant_id, e.product_id, e.hash, e.proof_kind, e.proof_id,
      coalesce(rate.bps, 0), author.to_owner, e.learned_in, e.repeated + (
        SELECT count(*) FROM chain.reviews AS c JOIN market.reviews AS r USING (internal_id)
        WHERE c.chain_id = ${chainId} AND c.proof_kind = e.proof_kind AND c.proof_id = e.proof_id
          AND r.published_hash = e.hash
          AND (c.agent_id, c.merchant_id, c.product_id) = (e.agent_id, e.merchant_id, e.product_id))
    FROM unnest(
      ${column('bigint', ({ args }) => args.agentId)}::bigint[],
      ${column('bigint', ({ args }) => args.merchantId)}::bigint[],
      ${column('bytea', ({ args }) => args.productId)}::bytea[],
      ${column('integer', ({ args }) => args.proofKind)}::integer[],
      ${column('bigint', ({ args }) => args.proofId)}::bigint[],
      ${column('bytea', ({ args }) => args.contentHash)}::bytea[],
      ${column('bigint', ({ blockNumber }) => (isFinal ? null : blockNumber))}::bigint[],
      ${column('integer', (event) => repeated.get(event) ?? 0)}::integer[],
      ${column('bigint', ({ blockNumber }) => blockNumber)}::bigint[],
      ${column('integer', ({ logIndex }) => logIndex)}::integer[]
    ) WITH ORDINALITY
      AS e (agent_id, merchant_id, product_id, proof_kind, proof_id, hash, learned_in, repeated, block_number, log_index, at)
    LEFT JOIN LATERAL (
      SELECT o.to_owner FROM chain.ownership_changes AS o
      WHERE o.chain_id = ${chainId} AND o.agent_id = e.agent_id
        AND (o.block_number, o.log_index) < (e.block_number, e.log_index)
      ORDER BY o.block_number DESC, o.log_index DESC LIMIT 1) AS author ON true
    LEFT JOIN market.cashback_rates AS rate ON rate.chain_id = ${chainId} AND rate.agent_id = e.agent_id
    ORDER BY e.at
    ON CONFLICT (chain_id, proof_kind, proof_id, published_hash, agent_id, merchant_id, product_id, repeated)
      DO UPDATE SET learned_in = CASE WHEN old.learned_in IS NOT NULL THEN excluded.learned_in END,
        author_owner = excluded.author_owner
    RETURNING internal_id, agent_id AS "agentId", merchant_id AS "merchantId",
      '0x' || encode(product_id, 'hex') AS "productId", '0x' || encode(published_hash, 'hex') AS "contentHash",
      proof_kind AS "proofKind", proof_id AS "proofId", repeated, content IS NOT NULL AS "hasText"`
  const records = Map.groupBy(
    rows.toSorted((a, b) => a.repeated - b.repeated),
    recordKey,
  )
  return new Map(
    published.flatMap((event) => {
      const record = records.get(recordKey(event.args))?.[repeated.get(event) ?? 0]
      return record ? [[event, record]] : []
    }),
  )
}

type RecordKey = Pick<
  Published['args'],
  'agentId' | 'merchantId' | 'productId' | 'contentHash' | 'proofKind' | 'proofId'
>
type Entered = RecordKey & { internal_id: bigint; repeated: number; hasText: boolean }

const recordKey = ({ agentId, merchantId, productId, contentHash, proofKind, proofId }: RecordKey) =>
  [agentId, merchantId, productId, contentHash, proofKind, proofId].join('/')

/**
 * Deletes reviews that a reorganisation dropped, once that is final, unless they were submitted here or their text is known. Rows that
 * another transaction has locked are skipped until the next run: waiting for them could be a deadlock.
 */
export async function finalizeReviews(tx: Transaction, chainId: number, final: bigint): Promise<void> {
  await tx`
    WITH due AS (
      SELECT internal_id FROM market.reviews WHERE chain_id = ${chainId} AND learned_in <= ${final}
      FOR UPDATE SKIP LOCKED
    ), dropped AS (
      DELETE FROM market.reviews AS r
      WHERE internal_id IN (SELECT internal_id FROM due) AND content IS NULL AND NOT EXISTS (
        SELECT FROM chain.reviews AS c WHERE c.internal_id = r.internal_id)
      RETURNING internal_id
    )
    UPDATE market.reviews SET learned_in = NULL
    WHERE internal_id IN (SELECT internal_id FROM due EXCEPT SELECT internal_id FROM dropped)`
}
