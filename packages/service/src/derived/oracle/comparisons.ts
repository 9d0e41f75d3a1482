// A comparison is a snapshot of the buyers' opinions of a product, with which its reviews are compared. It is made
// once there are three opinions, and again each time their number has doubled, so that an opinion is part of only a
// few comparisons.
import type { Batch, Change } from '../following/following.ts'

/** With fewer opinions there is no comparison. */
export const LEAST_OPINIONS = 3
/**
 * An opinion weighs as much as its purchase, and at least this (in millionths), so that opinions of purchases without
 * commission still count among themselves.
 */
const LEAST_WEIGHT = 1

/**
 * Makes the comparisons that are due after opinions have changed. Voids those based on a review that is not published
 * any more or whose author was flagged. Queues the reviews of all these products to be compared again.
 */
export async function compare({ tx, chain, changes, now }: Batch): Promise<void> {
  const { chainId } = chain.config
  const reviews = reviewsOf(changes)
  const agents = flaggedOf(changes)
  if (reviews.length === 0 && agents.length === 0) return
  const touched = tx`
    SELECT internal_id, merchant_id, product_id, agent_id, content FROM market.reviews WHERE internal_id = ANY(${reviews}::bigint[])
    UNION
    SELECT internal_id, merchant_id, product_id, agent_id, content FROM market.reviews
    WHERE chain_id = ${chainId} AND agent_id = ANY(${agents}::bigint[]) AND opinion_size IS NOT NULL`
  await tx`
    WITH gone AS (
      SELECT internal_id FROM (${touched}) AS m
      WHERE content IS NULL
        OR NOT EXISTS (SELECT FROM chain.reviews AS c WHERE c.internal_id = m.internal_id)
        OR EXISTS (SELECT FROM market.agents AS a WHERE a.chain_id = ${chainId} AND a.agent_id = m.agent_id AND a.flagged)
    ), voided AS (
      UPDATE market.comparisons AS k SET voided_at = ${now}
      FROM market.comparison_inputs AS i
      WHERE i.comparison_id = k.comparison_id AND k.voided_at IS NULL AND i.internal_id IN (SELECT internal_id FROM gone)
      RETURNING k.merchant_id, k.product_id
    )
    INSERT INTO market.comparisons_under_way (chain_id, merchant_id, product_id, after)
    SELECT DISTINCT ${chainId}::bigint, merchant_id, product_id, 0 FROM voided
    ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET after = 0`
  await tx`
    WITH due AS (
      SELECT t.chain_id, t.merchant_id, t.product_id
      FROM (SELECT DISTINCT merchant_id, product_id FROM (${touched}) AS m) AS p
      JOIN market.product_totals AS t
        ON t.chain_id = ${chainId} AND t.merchant_id = p.merchant_id AND t.product_id = p.product_id
      LEFT JOIN LATERAL (
        SELECT opinions, voided_at FROM market.comparisons AS k
        WHERE k.chain_id = ${chainId} AND k.merchant_id = p.merchant_id AND k.product_id = p.product_id
        ORDER BY comparison_id DESC LIMIT 1) AS last ON true
      WHERE t.opinions >= ${LEAST_OPINIONS}
        AND (last.opinions IS NULL OR last.voided_at IS NOT NULL OR t.opinions >= 2 * last.opinions)
    ), said AS (
      SELECT chain_id, merchant_id, product_id, o.owner, o.internal_id, o.satisfaction, o.size,
        greatest(o.size, ${LEAST_WEIGHT}::integer) AS weight
      FROM due JOIN market.opinions AS o USING (chain_id, merchant_id, product_id)
    ), made AS (
      INSERT INTO market.comparisons (chain_id, merchant_id, product_id, made_at, opinions, size, weight, weighted)
      SELECT chain_id, merchant_id, product_id, ${now}, count(*), sum(size), sum(weight), sum(weight::bigint * satisfaction)
      FROM said GROUP BY 1, 2, 3
      RETURNING comparison_id, chain_id, merchant_id, product_id
    ), inputs AS (
      INSERT INTO market.comparison_inputs (comparison_id, owner, internal_id, satisfaction, size, weight)
      SELECT comparison_id, owner, internal_id, satisfaction, size, weight
      FROM made JOIN said USING (chain_id, merchant_id, product_id)
    )
    INSERT INTO market.comparisons_under_way (chain_id, merchant_id, product_id, after)
    SELECT chain_id, merchant_id, product_id, 0 FROM made
    ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET after = 0`
}

export const reviewsOf = (changes: readonly Change[]): bigint[] =>
  changes.filter((change) => change.what === 'review').map(({ internalId }) => internalId)

/** Agents whose flag has changed. Other changes of an agent do not affect comparisons. */
const flaggedOf = (changes: readonly Change[]): bigint[] =>
  changes.filter((change) => change.what === 'flag').map(({ agentId }) => agentId)
