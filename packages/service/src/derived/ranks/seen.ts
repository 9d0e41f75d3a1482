// Stores the reviews and flags as the ranks last saw them. Whether a vote or a purchase counts depends on its review and
// its voter or buyer, and either can have any number of them. Only when a review or a flag differs from what was seen
// are these checked again. They are queued as changes of their own, because they may not fit into one batch.
import type { Queryable, Transaction } from '@referrer/database'

/** A vote `v` that can count. */
const counts = (sql: Queryable) => sql`(v.weight > 0 OR v.supports)`

const isOneOf = (sql: Queryable, internalIds: readonly bigint[]) => sql`
  m.internal_id = ANY(${[...internalIds]}::bigint[])`
const isOfChain = (sql: Queryable, chainId: number) => sql`m.chain_id = ${chainId}`

/** Published reviews with what their votes depend on. */
const published = (sql: Queryable, which: ReturnType<typeof isOneOf>) => sql`
  SELECT m.internal_id, m.chain_id, m.author_owner AS owner, p.product_type, c.review_id
  FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
  JOIN chain.products AS p ON (p.chain_id, p.merchant_id, p.product_id) = (m.chain_id, m.merchant_id, m.product_id)
  WHERE ${which} AND m.content IS NOT NULL AND m.author_owner IS NOT NULL`

/** Compares reviews with what was seen: they may have been published, removed, or moved to another owner. */
export async function seeReviews(
  tx: Transaction,
  chainId: number,
  reviewIds: readonly bigint[],
): Promise<void> {
  if (reviewIds.length === 0) return
  const ids = [...reviewIds]
  await tx`
    WITH present AS (
      ${published(tx, isOneOf(tx, reviewIds))}
    ), before AS (
      SELECT internal_id, review_id FROM market.ranked_reviews WHERE internal_id = ANY(${ids}::bigint[])
    ), seen AS (
      INSERT INTO market.ranked_reviews AS s (internal_id, chain_id, owner, product_type, review_id)
      TABLE present
      ON CONFLICT (internal_id) DO UPDATE
        SET owner = excluded.owner, product_type = excluded.product_type, review_id = excluded.review_id
        WHERE (s.owner, s.product_type, s.review_id) IS DISTINCT FROM (excluded.owner, excluded.product_type, excluded.review_id)
      RETURNING internal_id, review_id
    ), gone AS (
      DELETE FROM market.ranked_reviews
      WHERE internal_id = ANY(${ids}::bigint[]) AND internal_id NOT IN (SELECT internal_id FROM present)
      RETURNING internal_id, review_id
    ), changed AS (
      TABLE seen UNION ALL TABLE gone
    ), votes AS (
      INSERT INTO market.pending_changes (chain_id, what, subject)
      SELECT DISTINCT ${chainId}::bigint, 'ballot', v.ballot_id
      FROM changed JOIN market.votes AS v ON v.review_internal_id = changed.internal_id AND ${counts(tx)}
    )
    INSERT INTO market.pending_changes (chain_id, what, contract, payer, nonce, merchant_id, product_id)
    SELECT e.chain_id, 'purchase', e.contract, e.payer, e.nonce, e.merchant_id, e.product_id
    FROM (
      SELECT review_id FROM changed
      UNION SELECT before.review_id FROM changed JOIN before USING (internal_id)) AS link
    JOIN market.counted_purchases AS x ON x.chain_id = ${chainId} AND x.review_id = link.review_id
    JOIN chain.escrows AS e
      ON e.chain_id = x.chain_id AND (e.payer, e.nonce) = (x.payer, x.nonce) AND e.contract = x.contract`
}

/** Compares the flags of agents with what was seen. */
export async function seeFlags(tx: Transaction, chainId: number, agentIds: readonly bigint[]): Promise<void> {
  if (agentIds.length === 0) return
  const ids = [...agentIds]
  await tx`
    WITH flagged AS (
      SELECT agent_id FROM market.agents WHERE chain_id = ${chainId} AND agent_id = ANY(${ids}::bigint[]) AND flagged
    ), unheard AS (
      INSERT INTO market.unheard_voters SELECT ${chainId}, agent_id FROM flagged
      ON CONFLICT DO NOTHING RETURNING agent_id
    ), heard AS (
      DELETE FROM market.unheard_voters
      WHERE chain_id = ${chainId} AND agent_id = ANY(${ids}::bigint[]) AND agent_id NOT IN (SELECT agent_id FROM flagged)
      RETURNING agent_id
    ), changed AS (
      TABLE unheard UNION ALL TABLE heard
    ), votes AS (
      INSERT INTO market.pending_changes (chain_id, what, subject)
      SELECT DISTINCT ${chainId}::bigint, 'ballot', v.ballot_id
      FROM changed JOIN market.votes AS v ON v.chain_id = ${chainId} AND v.voter_agent_id = changed.agent_id AND ${counts(tx)}
    )
    INSERT INTO market.pending_changes (chain_id, what, contract, payer, nonce, merchant_id, product_id)
    SELECT e.chain_id, 'purchase', e.contract, e.payer, e.nonce, e.merchant_id, e.product_id
    FROM changed
    JOIN market.reviews AS m ON m.chain_id = ${chainId} AND m.agent_id = changed.agent_id AND m.proof_kind = 2
      AND m.opinion_size IS NOT NULL AND m.opinion_agrees IS NOT FALSE
    JOIN chain.escrows AS e ON e.chain_id = m.chain_id AND e.escrow_id = m.proof_id AND e.buyer_agent_id = m.agent_id`
}

/**
 * Deletes the ranks of a chain with all evidence, and stores its reviews and flags as they are now. The caller must
 * hold the followers' lock.
 */
export async function forgetRanks(tx: Transaction, chainId: number): Promise<void> {
  await tx`DELETE FROM market.author_money WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.counted_votes WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.spent_at_shops WHERE chain_id = ${chainId}`
  await tx`
    DELETE FROM market.counted_purchases AS x WHERE chain_id = ${chainId} AND NOT EXISTS (
      SELECT FROM chain.escrows AS e
      WHERE e.chain_id = x.chain_id AND (e.payer, e.nonce) = (x.payer, x.nonce) AND e.contract = x.contract)`
  // The rows stay, because only they know the commission of the time.
  await tx`UPDATE market.counted_purchases SET spent = 0, sales = 0, support_paid = 0, support_spent = 0 WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.rank_evidence WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.rank_totals WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.review_ranks WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.ranked_reviews WHERE chain_id = ${chainId}`
  await tx`
    INSERT INTO market.ranked_reviews (internal_id, chain_id, owner, product_type, review_id)
    ${published(tx, isOfChain(tx, chainId))}`
  await tx`DELETE FROM market.unheard_voters WHERE chain_id = ${chainId}`
  await tx`
    INSERT INTO market.unheard_voters SELECT chain_id, agent_id FROM market.agents WHERE chain_id = ${chainId} AND flagged`
}
