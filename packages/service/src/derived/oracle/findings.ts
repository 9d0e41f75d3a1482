// A finding of the oracle states whether buyers of the product, other than the owner of the author, agree with a
// review.
import type { Batch } from '../following/following.ts'
import { LEAST_OPINIONS } from './comparisons.ts'

type Scope = Omit<Batch, 'changes'>

/** How far a review may be from the weighted mean of the others, in millionths. */
const TOLERANCE = 250_000
const REVIEWS_AT_ONCE = 1_000
const PRODUCTS_AT_ONCE = 100

/**
 * Compares published reviews, named by their internal ids, and stores a finding where the outcome differs from the
 * last one. Reviews that are or were disputed are left alone.
 */
export async function find({ tx, chain, now }: Scope, internalIds: readonly bigint[]): Promise<void> {
  if (internalIds.length === 0) return
  const { chainId } = chain.config
  await tx`
    WITH asked AS (
      SELECT m.internal_id, m.agent_id, m.author_owner, m.merchant_id, m.product_id,
        round(m.satisfaction_score * 1000000)::integer AS satisfaction
      FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
      WHERE m.internal_id = ANY(${[...internalIds]}::bigint[]) AND m.content IS NOT NULL
        AND m.satisfaction_score IS NOT NULL AND m.comparison_outcome NOT IN ('disputed', 'resolved')
    ), found AS (
      SELECT a.internal_id, a.agent_id, a.satisfaction, k.comparison_id,
        coalesce(k.others, 0) AS others, coalesce(k.weight, 0) AS others_weight, coalesce(k.weighted, 0) AS others_weighted,
        CASE WHEN merchant.owner IS DISTINCT FROM a.author_owner THEN coalesce(k.size / k.others, 0) ELSE 0 END AS size,
        CASE
          WHEN k.comparison_id IS NULL THEN 'pending'
          WHEN abs(a.satisfaction::numeric * k.weight - k.weighted) <= ${TOLERANCE}::numeric * k.weight THEN 'confirmed'
          ELSE 'contradicted' END AS outcome
      FROM asked AS a
      LEFT JOIN LATERAL (
        SELECT last.comparison_id, last.opinions - count(own.owner) AS others, last.size - coalesce(sum(own.size), 0)::bigint AS size,
          last.weight - coalesce(sum(own.weight), 0)::bigint AS weight,
          last.weighted - coalesce(sum(own.weight::bigint * own.satisfaction), 0) AS weighted
        FROM (
          SELECT * FROM market.comparisons AS k
          WHERE k.chain_id = ${chainId} AND k.merchant_id = a.merchant_id AND k.product_id = a.product_id
          ORDER BY comparison_id DESC LIMIT 1
        ) AS last
        LEFT JOIN market.comparison_inputs AS own
          ON own.comparison_id = last.comparison_id AND own.owner = a.author_owner
        WHERE last.voided_at IS NULL
        GROUP BY last.comparison_id, last.opinions, last.size, last.weight, last.weighted
        HAVING last.opinions - count(own.owner) >= ${LEAST_OPINIONS}) AS k ON true
      LEFT JOIN chain.identities AS merchant ON merchant.chain_id = ${chainId} AND merchant.agent_id = a.merchant_id
    ), changed AS (
      SELECT found.* FROM found
      LEFT JOIN LATERAL (
        SELECT f.outcome FROM market.findings AS f WHERE f.internal_id = found.internal_id
        ORDER BY finding_id DESC LIMIT 1) AS last ON true
      WHERE found.outcome <> coalesce(last.outcome, 'pending')
    ), held AS (
      -- The lock keeps the author from opening a dispute at the same time.
      SELECT internal_id FROM market.reviews
      WHERE internal_id IN (SELECT internal_id FROM changed) AND comparison_outcome NOT IN ('disputed', 'resolved')
      ORDER BY internal_id FOR NO KEY UPDATE
    ), shown AS (
      UPDATE market.reviews AS m SET comparison_outcome = changed.outcome
      FROM changed JOIN held USING (internal_id) WHERE m.internal_id = changed.internal_id
      RETURNING m.internal_id
    )
    INSERT INTO market.findings (chain_id, internal_id, agent_id, outcome, comparison_id, satisfaction, others, others_weight,
      others_weighted, size, found_at)
    SELECT ${chainId}, internal_id, agent_id, outcome, comparison_id, satisfaction, others, others_weight, others_weighted, size, ${now}
    FROM changed JOIN shown USING (internal_id) ORDER BY internal_id`
}

/** Continues with the reviews of products whose comparison has changed. False: there are none left. */
export async function findUnderWay(batch: Scope): Promise<boolean> {
  const { tx, chain } = batch
  const { chainId } = chain.config
  const rows = await tx<{ merchant_id: bigint; product_id: Buffer; internal_id: bigint | null }[]>`
    SELECT s.merchant_id, s.product_id, m.internal_id
    FROM (
      SELECT * FROM market.comparisons_under_way WHERE chain_id = ${chainId}
      ORDER BY merchant_id, product_id LIMIT ${PRODUCTS_AT_ONCE}
    ) AS s
    LEFT JOIN LATERAL (
      SELECT internal_id FROM market.reviews AS m
      WHERE m.chain_id = ${chainId} AND m.merchant_id = s.merchant_id AND m.product_id = s.product_id AND m.content IS NOT NULL
        AND m.internal_id > s.after
      ORDER BY internal_id LIMIT ${REVIEWS_AT_ONCE}) AS m ON true
    ORDER BY s.merchant_id, s.product_id, m.internal_id LIMIT ${REVIEWS_AT_ONCE}`
  if (rows.length === 0) return false
  await find(
    batch,
    rows.flatMap(({ internal_id }) => internal_id ?? []),
  )
  // The last product may have more reviews; all products before it are done.
  const last = rows.length === REVIEWS_AT_ONCE ? rows.at(-1) : undefined
  if (last) {
    await tx`
      UPDATE market.comparisons_under_way SET after = ${last.internal_id ?? 0n}
      WHERE chain_id = ${chainId} AND merchant_id = ${last.merchant_id} AND product_id = ${last.product_id}`
  }
  const done = rows.filter(
    (row) => row.merchant_id !== last?.merchant_id || !row.product_id.equals(last.product_id),
  )
  await tx`
    DELETE FROM market.comparisons_under_way
    WHERE chain_id = ${chainId} AND (merchant_id, product_id) IN (SELECT * FROM unnest(
      ${done.map(({ merchant_id }) => merchant_id)}::bigint[], ${done.map(({ product_id }) => product_id)}::bytea[]))`
  return true
}
