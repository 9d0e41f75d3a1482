import type { Queryable, Transaction } from '@referrer/database'
import { dayOf } from '@referrer/ranking'

/** What an owner thinks of a product. Satisfaction, size and weight are in millionths. */
export interface Opinion {
  /** The internal id of the review that states it. */
  internalId: bigint
  /** When and under which id that review was published on-chain. */
  publishedAt: Date
  reviewId: bigint
  satisfaction: number
  size: number
  weight: number
}

/** An owner's opinion of a product before and after a change. Null: there is none. */
export interface OpinionChange {
  merchantId: bigint
  productId: Buffer
  owner: Buffer
  before: Pick<Opinion, 'satisfaction' | 'weight'> | null
  after: Opinion | null
}

const isOneOf = (sql: Queryable, chainId: number, internalIds: readonly bigint[]) => sql`
  m.chain_id = ${chainId} AND m.internal_id = ANY(${[...internalIds]}::bigint[])`

/** Buyers' reviews that can be opinions: published, by an author who is not flagged. */
const possibleOpinions = (sql: Queryable, which: ReturnType<typeof isOneOf>) => sql`
  SELECT m.merchant_id, m.product_id, m.author_owner AS owner, m.internal_id,
    round(m.satisfaction_score * 1000000)::integer AS satisfaction, m.opinion_size AS size, m.opinion_weight AS weight,
    c.published_at, c.review_id
  FROM market.reviews AS m
  -- LATERAL … LIMIT 1 forces an index lookup per row; with a plain join the planner may scan the whole table.
  CROSS JOIN LATERAL (
    SELECT published_at, review_id FROM chain.reviews WHERE internal_id = m.internal_id LIMIT 1) AS c
  WHERE ${which} AND m.content IS NOT NULL AND m.satisfaction_score IS NOT NULL AND m.opinion_size IS NOT NULL
    AND m.author_owner IS NOT NULL AND (
      SELECT a.flagged FROM market.agents AS a WHERE a.chain_id = m.chain_id AND a.agent_id = m.agent_id) IS NOT TRUE`

/**
 * Reviews of these agents that no longer fit their author's flag: an opinion by a flagged author, or a possible
 * opinion of an author who is not flagged any more.
 */
export async function reviewsToReconsider(
  sql: Queryable,
  chainId: number,
  agentIds: readonly bigint[],
): Promise<bigint[]> {
  if (agentIds.length === 0) return []
  const rows = await sql<{ internal_id: bigint }[]>`
    SELECT m.internal_id FROM market.reviews AS m
    LEFT JOIN market.agents AS a ON a.chain_id = m.chain_id AND a.agent_id = m.agent_id
    WHERE m.chain_id = ${chainId} AND m.agent_id = ANY(${[...agentIds]}::bigint[]) AND m.opinion_size IS NOT NULL
      AND EXISTS (SELECT FROM market.opinions AS o WHERE o.internal_id = m.internal_id) = coalesce(a.flagged, false)`
  return rows.map(({ internal_id }) => internal_id)
}

/**
 * Computes the new opinions after these reviews have changed. If the review behind an opinion still counts and was
 * not moved to an earlier place, it is compared only with the changed reviews; otherwise all reviews of the product
 * by the owner are read.
 */
export async function findChanges(
  sql: Queryable,
  chainId: number,
  changed: readonly bigint[],
): Promise<OpinionChange[]> {
  if (changed.length === 0) return []
  const isChanged = isOneOf(sql, chainId, changed)
  const rows = await sql<ChangeRow[]>`
    WITH pairs AS MATERIALIZED (
      SELECT p.*, o.internal_id, o.published_at, o.review_id, o.satisfaction, o.size, o.weight,
        EXISTS (${possibleOpinions(
          sql,
          sql`m.internal_id = o.internal_id AND m.author_owner = o.owner
            AND (c.published_at, c.review_id) >= (o.published_at, o.review_id)`,
        )}) AS stands
      FROM (
        SELECT m.merchant_id, m.product_id, m.author_owner AS owner FROM market.reviews AS m
        WHERE ${isChanged} AND m.opinion_size IS NOT NULL AND m.author_owner IS NOT NULL
        UNION SELECT m.merchant_id, m.product_id, m.owner FROM market.opinions AS m WHERE ${isChanged}
      ) AS p
      LEFT JOIN market.opinions AS o ON o.chain_id = ${chainId}
        AND (o.merchant_id, o.product_id, o.owner) = (p.merchant_id, p.product_id, p.owner)
    ), heard AS (
      ${possibleOpinions(sql, isChanged)}
      UNION ALL SELECT v.* FROM pairs AS p CROSS JOIN LATERAL (
        ${possibleOpinions(sql, sql`m.internal_id = p.internal_id`)}) AS v WHERE p.stands
      UNION ALL SELECT v.* FROM pairs AS p CROSS JOIN LATERAL (
        ${possibleOpinions(
          sql,
          sql`m.chain_id = ${chainId} AND (m.merchant_id, m.product_id, m.author_owner) = (p.merchant_id, p.product_id, p.owner)`,
        )}) AS v WHERE NOT p.stands
    ), newest AS (
      SELECT DISTINCT ON (merchant_id, product_id, owner) * FROM heard
      ORDER BY merchant_id, product_id, owner, published_at DESC, review_id DESC
    )
    SELECT p.merchant_id, p.product_id, p.owner, p.satisfaction AS old_satisfaction, p.weight AS old_weight,
      n.internal_id, n.published_at, n.review_id, n.satisfaction, n.size, n.weight
    FROM pairs AS p LEFT JOIN newest AS n USING (merchant_id, product_id, owner)
    WHERE (p.internal_id, p.published_at, p.review_id, p.satisfaction, p.size, p.weight)
      IS DISTINCT FROM (n.internal_id, n.published_at, n.review_id, n.satisfaction, n.size, n.weight)`
  return rows.map((row) => ({
    merchantId: row.merchant_id,
    productId: row.product_id,
    owner: row.owner,
    before: row.old_weight === null ? null : { satisfaction: row.old_satisfaction, weight: row.old_weight },
    after:
      row.internal_id === null
        ? null
        : {
            internalId: row.internal_id,
            publishedAt: row.published_at,
            reviewId: row.review_id,
            satisfaction: row.satisfaction,
            size: row.size,
            weight: row.weight,
          },
  }))
}

type ChangeRow = {
  merchant_id: bigint
  product_id: Buffer
  owner: Buffer
  old_satisfaction: number
  /** Null, with all `old_` columns: there was no opinion. */
  old_weight: number | null
  /** Null, with all columns below: there is no opinion now. */
  internal_id: bigint | null
  published_at: Date
  review_id: bigint
  satisfaction: number
  size: number
  weight: number
}

export async function writeChanges(
  tx: Transaction,
  chainId: number,
  changes: readonly OpinionChange[],
): Promise<void> {
  const gone = changes.filter(({ after }) => after === null)
  if (gone.length > 0) {
    await tx`
      DELETE FROM market.opinions AS o USING unnest(
        ${gone.map(({ merchantId }) => merchantId)}::bigint[], ${gone.map(({ productId }) => productId)}::bytea[],
        ${gone.map(({ owner }) => owner)}::bytea[]
      ) AS gone (merchant_id, product_id, owner)
      WHERE o.chain_id = ${chainId}
        AND (o.merchant_id, o.product_id, o.owner) = (gone.merchant_id, gone.product_id, gone.owner)`
  }
  const kept = changes.flatMap(({ after, ...key }) => (after ? [{ ...key, ...after }] : []))
  if (kept.length === 0) return
  await tx`
    INSERT INTO market.opinions
      (chain_id, merchant_id, product_id, owner, internal_id, published_at, review_id, satisfaction, size, weight)
    SELECT ${chainId}, * FROM unnest(
      ${kept.map(({ merchantId }) => merchantId)}::bigint[], ${kept.map(({ productId }) => productId)}::bytea[],
      ${kept.map(({ owner }) => owner)}::bytea[], ${kept.map(({ internalId }) => internalId)}::bigint[],
      ${kept.map(({ publishedAt }) => publishedAt.toISOString())}::timestamptz[], ${kept.map(({ reviewId }) => reviewId)}::bigint[],
      ${kept.map(({ satisfaction }) => satisfaction)}::integer[], ${kept.map(({ size }) => size)}::integer[],
      ${kept.map(({ weight }) => weight)}::integer[])
    ON CONFLICT (chain_id, merchant_id, product_id, owner) DO UPDATE SET internal_id = excluded.internal_id,
      published_at = excluded.published_at, review_id = excluded.review_id, satisfaction = excluded.satisfaction, size = excluded.size, weight = excluded.weight`
}

/**
 * Deletes everything computed from the opinions of a chain, except the present day's mean, and queues its products.
 * The caller must hold the followers' lock and queue the reviews and purchases. A day in the future came from a wrong
 * clock and is set back.
 */
export async function forgetOpinions(tx: Transaction, chainId: number, now: Date): Promise<void> {
  await tx`DELETE FROM market.opinions WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.product_totals WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.merchant_totals WHERE chain_id = ${chainId}`
  await tx`
    UPDATE market.opinion_totals SET weight = 0, weighted = 0, day = least(day, ${dayOf(now)})
    WHERE chain_id = ${chainId}`
  await tx`UPDATE market.products SET rank = DEFAULT WHERE chain_id = ${chainId} AND rank <> 0.5`
  await tx`UPDATE market.merchants SET rank = NULL WHERE chain_id = ${chainId} AND rank IS NOT NULL`
  await tx`
    INSERT INTO market.pending_changes (chain_id, what, merchant_id, product_id)
    SELECT chain_id, 'product', merchant_id, product_id FROM market.products WHERE chain_id = ${chainId}`
}
