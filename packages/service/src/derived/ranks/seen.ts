// Stores the reviews and flags as the ranks last saw them. Whether a vote counts depends on its review and its voter,
// and either can have any number of votes. Only when a review or a flag differs from what was seen are its votes
// checked again. Their ballots are queued as changes of their own, because they may not fit into one batch.
import type { Queryable, Transaction } from '@referrer/database'

const isOneOf = (sql: Queryable, internalIds: readonly bigint[]) => sql`
  m.internal_id = ANY(${[...internalIds]}::bigint[])`
const isOfChain = (sql: Queryable, chainId: number) => sql`m.chain_id = ${chainId}`

/** Published reviews with what their votes depend on. */
const published = (sql: Queryable, which: ReturnType<typeof isOneOf>) => sql`
  SELECT m.internal_id, m.chain_id, m.author_owner AS owner, p.product_type
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
    ), seen AS (
      INSERT INTO market.ranked_reviews AS s (internal_id, chain_id, owner, product_type)
      TABLE present
      ON CONFLICT (internal_id) DO UPDATE SET owner = excluded.owner, product_type = excluded.product_type
        WHERE (s.owner, s.product_type) <> (excluded.owner, excluded.product_type)
      RETURNING internal_id
    ), gone AS (
      DELETE FROM market.ranked_reviews
      WHERE internal_id = ANY(${ids}::bigint[]) AND internal_id NOT IN (SELECT internal_id FROM present)
      RETURNING internal_id
    )
    INSERT INTO market.pending_changes (chain_id, what, subject)
    SELECT DISTINCT ${chainId}::bigint, 'ballot', v.ballot_id
    FROM (TABLE seen UNION ALL TABLE gone) AS changed
    JOIN market.votes AS v ON v.review_internal_id = changed.internal_id AND v.weight > 0`
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
    )
    INSERT INTO market.pending_changes (chain_id, what, subject)
    SELECT DISTINCT ${chainId}::bigint, 'ballot', v.ballot_id
    FROM (TABLE unheard UNION ALL TABLE heard) AS changed
    JOIN market.votes AS v ON v.chain_id = ${chainId} AND v.voter_agent_id = changed.agent_id AND v.weight > 0`
}

/**
 * Deletes the ranks of a chain with all evidence, and stores its reviews and flags as they are now. The caller must
 * hold the followers' lock.
 */
export async function forgetRanks(tx: Transaction, chainId: number): Promise<void> {
  await tx`DELETE FROM market.rank_evidence WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.rank_totals WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.review_ranks WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.ranked_reviews WHERE chain_id = ${chainId}`
  await tx`
    INSERT INTO market.ranked_reviews (internal_id, chain_id, owner, product_type)
    ${published(tx, isOfChain(tx, chainId))}`
  await tx`DELETE FROM market.unheard_voters WHERE chain_id = ${chainId}`
  await tx`
    INSERT INTO market.unheard_voters SELECT chain_id, agent_id FROM market.agents WHERE chain_id = ${chainId} AND flagged`
}
