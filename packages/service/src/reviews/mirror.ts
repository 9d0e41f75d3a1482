import type { Transaction } from '@referrer/database'
import type { Hex } from 'viem'
import {
  arrayOf,
  Changes,
  type ColumnType,
  insertRows,
  type Row,
  type Table,
  type Value,
  writeChanges,
} from '../db/rows.ts'
import type { EventOf } from '../workers/events.ts'

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
    edited_at: 'time',
  },
}

const edits: Table = {
  name: 'chain.review_edits',
  key: { chain_id: 'bigint', block_number: 'bigint', log_index: 'integer' },
  columns: { review_id: 'bigint', previous_hash: 'bytea', content_hash: 'bytea', edited_at: 'time' },
}

/** What was published, and what was edited since. */
export async function applyReviewEvents(
  tx: Transaction,
  chainId: number,
  events: ReviewEvent[],
  isFinal: boolean,
): Promise<void> {
  const published = events.filter((event) => event.name === 'ReviewPublished')
  const internalIds = await enterReviews(tx, chainId, published, isFinal)
  const rows = new Changes()
  const edited: Row[] = []
  for (const event of events) {
    const key = { chain_id: chainId, review_id: event.args.reviewId }
    if (event.name === 'ReviewPublished') {
      const { agentId, merchantId, productId, contentHash, proofKind, proofId } = event.args
      rows.create(key, {
        internal_id: internalIds.get(recordKey(proofKind, proofId, contentHash)) ?? null,
        agent_id: agentId,
        merchant_id: merchantId,
        product_id: productId,
        content_hash: contentHash,
        proof_kind: proofKind,
        proof_id: proofId,
        published_at: event.timestamp,
      })
    } else {
      const { previousHash, contentHash, editedAt } = event.args
      rows.change(key, { content_hash: contentHash, edited_at: editedAt })
      edited.push({
        ...key,
        block_number: event.blockNumber,
        log_index: event.logIndex,
        previous_hash: previousHash,
        content_hash: contentHash,
        edited_at: editedAt,
      })
    }
  }
  await Promise.all([writeChanges(tx, reviews, rows), insertRows(tx, edits, edited)])
}

/**
 * Gives every review its record, with the cashback that its author pledges at this moment. A review that is in the records already,
 * because it was submitted here or because a reorganisation moved it, keeps its record. Returns the records' ids.
 */
async function enterReviews(
  tx: Transaction,
  chainId: number,
  published: Published[],
  isFinal: boolean,
): Promise<Map<string, bigint>> {
  if (published.length === 0) return new Map()
  const column = (type: ColumnType, pick: (event: Published) => Value) => arrayOf(type, published.map(pick))
  const proofKinds = column('integer', ({ args }) => args.proofKind)
  const proofIds = column('bigint', ({ args }) => args.proofId)
  const hashes = column('bytea', ({ args }) => args.contentHash)
  await tx`
    INSERT INTO market.reviews AS old
      (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, learned_in)
    SELECT ${chainId}, e.agent_id, e.merchant_id, e.product_id, e.hash, e.proof_kind, e.proof_id,
      coalesce(rate.bps, 0), e.learned_in
    FROM unnest(
      ${column('bigint', ({ args }) => args.agentId)}::bigint[],
      ${column('bigint', ({ args }) => args.merchantId)}::bigint[],
      ${column('bytea', ({ args }) => args.productId)}::bytea[],
      ${proofKinds}::integer[], ${proofIds}::bigint[], ${hashes}::bytea[],
      ${column('bigint', ({ blockNumber }) => (isFinal ? null : blockNumber))}::bigint[]
    ) WITH ORDINALITY AS e (agent_id, merchant_id, product_id, proof_kind, proof_id, hash, learned_in, at)
    LEFT JOIN market.cashback_rates AS rate ON rate.chain_id = ${chainId} AND rate.agent_id = e.agent_id
    ORDER BY e.at
    ON CONFLICT (chain_id, proof_kind, proof_id, published_hash) DO UPDATE SET learned_in = excluded.learned_in
    WHERE old.learned_in IS NOT NULL`
  const rows = await tx<{ internal_id: bigint; proof_kind: number; proof_id: bigint; hash: string }[]>`
    SELECT r.internal_id, r.proof_kind, r.proof_id, encode(r.published_hash, 'hex') AS hash
    FROM unnest(${proofKinds}::integer[], ${proofIds}::bigint[], ${hashes}::bytea[]) AS e (proof_kind, proof_id, hash)
    JOIN market.reviews AS r ON r.chain_id = ${chainId} AND r.proof_kind = e.proof_kind AND r.proof_id = e.proof_id
      AND r.published_hash = e.hash`
  return new Map(
    rows.map((row) => [recordKey(row.proof_kind, row.proof_id, `0x${row.hash}`), row.internal_id]),
  )
}

const recordKey = (proofKind: number, proofId: bigint, contentHash: Hex) =>
  `${proofKind}/${proofId}/${contentHash}`

/** As with agents: a review that the chain dropped for good goes, unless it was submitted here or somebody brought its text. */
export async function finalizeReviews(tx: Transaction, chainId: number, final: bigint): Promise<void> {
  await tx`
    DELETE FROM market.reviews AS r
    WHERE chain_id = ${chainId} AND learned_in <= ${final} AND content IS NULL AND NOT EXISTS (
      SELECT FROM chain.reviews AS c WHERE c.internal_id = r.internal_id)`
  await tx`
    UPDATE market.reviews SET learned_in = NULL WHERE chain_id = ${chainId} AND learned_in <= ${final}`
}
