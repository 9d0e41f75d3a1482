import type { Sql } from '@referrer/database'
import { CHAIN_ID } from './fill.ts'

/** What one would write first: the ranks of an agent by one query over all its votes and findings. It writes nothing. */
export const rankPlainly = (sql: Sql, agentId: number, now: Date) => sql`
  WITH published AS NOT MATERIALIZED (
    SELECT m.internal_id, p.product_type, m.merchant_id, m.product_id, m.comparison_outcome
    FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
    JOIN chain.products AS p ON (p.chain_id, p.merchant_id, p.product_id) = (m.chain_id, m.merchant_id, m.product_id)
    JOIN chain.identities AS i ON (i.chain_id, i.agent_id, i.owner) = (m.chain_id, m.agent_id, m.author_owner)
    WHERE m.chain_id = ${CHAIN_ID} AND m.agent_id = ${agentId} AND m.content IS NOT NULL
  ), once AS (
    SELECT DISTINCT ON (v.voter_owner, v.review_internal_id) v.*, r.product_type
    FROM market.votes AS v JOIN market.ballots AS b USING (ballot_id)
    JOIN published AS r ON r.internal_id = v.review_internal_id
    JOIN chain.escrows AS e ON (e.chain_id, e.payer, e.nonce, e.contract, e.buyer_agent_id)
      = (b.chain_id, b.payer, b.nonce, b.contract, v.voter_agent_id)
    LEFT JOIN market.agents AS a ON (a.chain_id, a.agent_id) = (v.chain_id, v.voter_agent_id)
    WHERE v.chain_id = ${CHAIN_ID} AND v.author_agent_id = ${agentId} AND v.weight > 0 AND a.flagged IS NOT TRUE
    ORDER BY v.voter_owner, v.review_internal_id, v.cast_at DESC, v.ballot_id DESC
  ), votes AS (
    SELECT *, row_number() OVER (
      PARTITION BY voter_owner, product_type ORDER BY cast_at DESC, ballot_id DESC, review_internal_id DESC) AS place
    FROM once
  ), latest AS (
    SELECT DISTINCT ON (internal_id) f.*, r.product_type, r.merchant_id, r.product_id
    FROM market.findings AS f JOIN published AS r USING (internal_id)
    WHERE f.chain_id = ${CHAIN_ID} AND f.agent_id = ${agentId} ORDER BY internal_id, finding_id DESC
  ), of_product AS (
    SELECT DISTINCT ON (product_type, outcome, merchant_id, product_id) * FROM latest WHERE outcome <> 'pending' AND size > 0
    ORDER BY product_type, outcome, merchant_id, product_id, finding_id DESC
  ), findings AS (
    SELECT *, row_number() OVER (PARTITION BY product_type, outcome ORDER BY finding_id DESC) AS place FROM of_product
  ), evidence AS (
    SELECT product_type, weight::float8 AS gain, 0 AS loss, cast_at AS at FROM votes WHERE place <= 3
    UNION ALL SELECT product_type, CASE outcome WHEN 'confirmed' THEN 2.0 * size ELSE 0 END,
      CASE outcome WHEN 'contradicted' THEN 3.0 * size ELSE 0 END, found_at
    FROM findings WHERE place <= 10
  )
  SELECT product_type, sum(gain * decay)::float8 AS gain, sum(loss * decay)::float8 AS loss
  FROM evidence, LATERAL (
    SELECT 0.5 ^ (((${now}::timestamptz AT TIME ZONE 'UTC')::date - (at AT TIME ZONE 'UTC')::date) / 180.0) AS decay) AS faded
  GROUP BY product_type ORDER BY product_type`
