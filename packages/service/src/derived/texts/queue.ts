import type { Queryable, Sql, Transaction } from '@referrer/database'
import type { ProductOfChain } from '../../kit/keys.ts'
import { productText, productTextHash } from './text.ts'

type Fragment = ReturnType<Queryable>

/** The lease on a text: if it is not embedded within this time, another worker takes it. */
const CLAIMED_SECONDS = 60
/**
 * A model counts as in use for this long after a service last reported it. When it is reported again, everything it
 * missed is queued.
 */
export const IN_USE_MINUTES = 10

export const isInUse = (sql: Queryable) => sql`used_at > now() - make_interval(mins => ${IN_USE_MINUTES})`

const lock = (sql: Queryable) => sql`hashtextextended('embedders', 0)`

/** Keeps others from queueing texts until the transaction ends, so that a model that comes into use misses none. */
export async function lockQueue(tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(${lock(tx)})`
}

/**
 * Queues the texts of products whose listings were written in this transaction, and of the reviews on their
 * shortlists, for every model in use that has not embedded their present version.
 */
export async function queueTexts(
  tx: Transaction,
  chainId: number,
  products: readonly ProductOfChain[],
): Promise<void> {
  if (products.length === 0) return
  await tx`SELECT pg_advisory_xact_lock_shared(${lock(tx)})`
  const listed: Fragment = tx`
    SELECT DISTINCT l.chain_id, l.merchant_id, l.product_id, l.shortlist
    FROM unnest(
      ${products.map(({ merchantId }) => merchantId)}::bigint[], ${products.map(({ productId }) => productId)}::bytea[]
    ) AS named (merchant_id, product_id)
    JOIN market.listings AS l ON l.chain_id = ${chainId} AND l.merchant_id = named.merchant_id
      AND l.product_id = named.product_id AND l.is_open`
  await queue(tx, listed, tx`SELECT embedder_id FROM market.embedders WHERE ${isInUse(tx)}`)
}

/** Queues every text of all open listings that a model has not embedded. */
export async function queueEverything(tx: Transaction, embedderId: string): Promise<void> {
  const listed: Fragment = tx`SELECT chain_id, merchant_id, product_id, shortlist FROM market.listings WHERE is_open`
  await queue(tx, listed, tx`SELECT ${embedderId}::text AS embedder_id`)
}

/** Products are queued before reviews: without a product's vector it is not found. */
async function queue(tx: Transaction, listed: Fragment, embedders: Fragment): Promise<void> {
  await tx`
    INSERT INTO market.texts_to_embed AS t (embedder_id, chain_id, merchant_id, product_id, text_hash)
    SELECT e.embedder_id, p.chain_id, p.merchant_id, p.product_id, ${productTextHash(tx)}
    FROM (${embedders}) AS e CROSS JOIN (${listed}) AS l
    JOIN market.products AS p USING (chain_id, merchant_id, product_id)
    LEFT JOIN market.product_vectors AS v ON v.embedder_id = e.embedder_id AND v.chain_id = p.chain_id
      AND v.merchant_id = p.merchant_id AND v.product_id = p.product_id
    WHERE v.text_hash IS DISTINCT FROM ${productTextHash(tx)}
    ORDER BY 1, 2, 3, 4
    ON CONFLICT (embedder_id, chain_id, merchant_id, product_id) WHERE internal_id IS NULL
      DO UPDATE SET text_hash = excluded.text_hash, attempts = 0, due_at = excluded.due_at
      WHERE t.text_hash <> excluded.text_hash`
  await tx`
    INSERT INTO market.texts_to_embed AS t (embedder_id, internal_id, text_hash)
    SELECT e.embedder_id, m.internal_id, m.content_hash
    FROM (${embedders}) AS e CROSS JOIN (${listed}) AS l CROSS JOIN unnest(l.shortlist) AS listed (internal_id)
    JOIN market.reviews AS m USING (internal_id)
    LEFT JOIN market.review_vectors AS v ON v.embedder_id = e.embedder_id AND v.internal_id = m.internal_id
    WHERE m.content IS NOT NULL AND v.text_hash IS DISTINCT FROM m.content_hash
    ORDER BY 1, 2
    ON CONFLICT (embedder_id, internal_id) WHERE internal_id IS NOT NULL
      DO UPDATE SET text_hash = excluded.text_hash, attempts = 0, due_at = excluded.due_at
      WHERE t.text_hash <> excluded.text_hash`
}

/** A queued text as it was when it was taken. */
export interface Taken {
  id: bigint
  /** The hash in the queue; the text itself may be newer. */
  queuedHash: Buffer
  attempts: number
  subject:
    | { what: 'product'; chainId: number; product: ProductOfChain }
    | { what: 'review'; internalId: bigint }
  /** Undefined: the product or review is gone. */
  text: { hash: Buffer; product: string } | { hash: Buffer; content: string } | undefined
}

interface TakenRow {
  id: bigint
  queued_hash: Buffer
  attempts: number
  internal_id: bigint | null
  chain_id: number
  merchant_id: bigint
  product_id: Buffer
  product_text: string | null
  product_hash: Buffer
  content: string | null
  content_hash: Buffer
}

/** Takes the texts that have been due longest. */
export async function takeTexts(sql: Sql, embedderId: string, most: number): Promise<Taken[]> {
  const rows = await sql<TakenRow[]>`
    WITH due AS (
      SELECT id FROM market.texts_to_embed WHERE embedder_id = ${embedderId} AND due_at <= now()
      ORDER BY due_at, id LIMIT ${most} FOR UPDATE SKIP LOCKED
    ), taken AS (
      UPDATE market.texts_to_embed AS t SET due_at = now() + make_interval(secs => ${CLAIMED_SECONDS})
      FROM due WHERE t.id = due.id RETURNING t.*
    )
    SELECT t.id, t.text_hash AS queued_hash, t.attempts, t.internal_id, t.chain_id::float8, t.merchant_id, t.product_id,
      CASE WHEN p.product_id IS NOT NULL THEN ${productText(sql)} END AS product_text, ${productTextHash(sql)} AS product_hash,
      CASE WHEN c.internal_id IS NOT NULL THEN m.content END AS content, m.content_hash
    FROM taken AS t
    LEFT JOIN market.products AS p ON (p.chain_id, p.merchant_id, p.product_id) = (t.chain_id, t.merchant_id, t.product_id)
    LEFT JOIN market.reviews AS m ON m.internal_id = t.internal_id
    LEFT JOIN chain.reviews AS c ON c.internal_id = t.internal_id
    ORDER BY t.id`
  return rows.map((row) => ({
    id: row.id,
    queuedHash: row.queued_hash,
    attempts: row.attempts,
    subject:
      row.internal_id === null
        ? {
            what: 'product',
            chainId: row.chain_id,
            product: { merchantId: row.merchant_id, productId: row.product_id },
          }
        : { what: 'review', internalId: row.internal_id },
    text:
      row.product_text !== null
        ? { hash: row.product_hash, product: row.product_text }
        : row.content !== null
          ? { hash: row.content_hash, content: row.content }
          : undefined,
  }))
}

/** Removes texts from the queue, except those that have changed since they were taken. */
export async function removeTexts(tx: Queryable, taken: readonly Taken[]): Promise<void> {
  if (taken.length === 0) return
  await tx`
    DELETE FROM market.texts_to_embed AS t USING ${unchanged(tx, taken)} WHERE (t.id, t.text_hash) = (done.id, done.hash)`
}

/** Schedules a retry of failed texts. `isTextAtFault`: the text itself was refused, which counts as an attempt. */
export async function postponeTexts(
  sql: Queryable,
  taken: readonly Taken[],
  { seconds, isTextAtFault }: { seconds: number; isTextAtFault: boolean },
): Promise<void> {
  if (taken.length === 0) return
  await sql`
    UPDATE market.texts_to_embed AS t
    SET due_at = now() + make_interval(secs => ${seconds}), attempts = t.attempts + ${isTextAtFault ? 1 : 0}
    FROM ${unchanged(sql, taken)} WHERE (t.id, t.text_hash) = (done.id, done.hash)`
}

const unchanged = (sql: Queryable, taken: readonly Taken[]) => sql`
  unnest(${taken.map(({ id }) => id)}::bigint[], ${taken.map(({ queuedHash }) => queuedHash)}::bytea[]) AS done (id, hash)`
