import type { Queryable, Sql, Transaction } from '@referrer/database'
import type { Vector } from '@referrer/search'
import { touchListings } from '../../derived/listings/store.ts'
import {
  IN_USE_MINUTES,
  isInUse,
  lockQueue,
  queueEverything,
  removeTexts,
  type Taken,
} from '../../derived/texts/queue.ts'
import type { ProductOfChain } from '../../kit/keys.ts'
import { COUNTED } from '../../machinery/db/counts.ts'
import type { Embedder } from './embedder.ts'
import { COMMON, isEndpointId, LOCAL, LOCAL_THEN_LEARNED, NEWEST_LEARNED, WORDS_FORMAT } from './ids.ts'

/** Vectors of an unused model are deleted after this many days; until then it costs little to return to that model. */
const KEPT_DAYS = 7
/** Nobody returns to learned word vectors after there are newer ones. An index may take hours to take these up. */
const KEPT_OLD_WORDS_DAYS = 1
const DELETED_AT_ONCE = 5_000

/** The id of the configured model. Of learned word vectors that changes with every lesson. */
export async function configuredEmbedder(
  sql: Queryable,
  configured: string | undefined,
): Promise<string | undefined> {
  if (configured !== NEWEST_LEARNED && configured !== LOCAL_THEN_LEARNED) return configured
  const [newest] = await sql<{ embedder_id: string }[]>`
    SELECT embedder_id FROM market.word_vectors WHERE format = ${WORDS_FORMAT} ORDER BY number DESC LIMIT 1`
  return newest?.embedder_id ?? (configured === NEWEST_LEARNED ? COMMON.id : LOCAL.id)
}

/**
 * The model that serves requests: the configured one if it has embedded everything; else the usable one that did so
 * last; else the configured one with what it has.
 */
export async function servingEmbedder(
  sql: Queryable,
  wanted: string | undefined,
): Promise<string | undefined> {
  const configured = await configuredEmbedder(sql, wanted)
  if (configured === undefined) return undefined
  const [row] = await sql<{ embedder_id: string }[]>`
    SELECT embedder_id FROM market.embedders
    WHERE ready_at IS NOT NULL AND (
      embedder_id IN (${LOCAL.id}, ${COMMON.id})
      OR embedder_id IN (SELECT embedder_id FROM market.word_vectors WHERE format = ${WORDS_FORMAT})
      OR (${isEndpointId(configured)} AND starts_with(embedder_id, 'endpoint/')))
    ORDER BY embedder_id = ${configured} DESC, ready_at DESC, embedder_id LIMIT 1`
  return row?.embedder_id ?? configured
}

/**
 * Reports that a model is in use; to be called regularly. For a model that is new, or was not in use, everything it
 * has not embedded is queued.
 */
export async function useEmbedder(sql: Sql, { id, dims }: Pick<Embedder, 'id' | 'dims'>): Promise<void> {
  if (await staysInUse(sql, id)) return
  await sql.begin(async (tx) => {
    // Queueing a whole market takes longer than the usual time-out, and so does waiting for another replica that does
    // it.
    await tx`SELECT set_config('statement_timeout', '0', true)`
    await lockQueue(tx)
    // Another replica may have done it while this one waited for the lock.
    if (await staysInUse(tx, id)) return
    await addEmbedder(tx, { id, dims })
  })
}

/** The caller has locked the queue. */
export async function addEmbedder(
  tx: Transaction,
  { id, dims }: Pick<Embedder, 'id' | 'dims'>,
): Promise<void> {
  await tx`
    INSERT INTO market.embedders (embedder_id, dims) VALUES (${id}, ${dims})
    ON CONFLICT (embedder_id) DO UPDATE SET used_at = now()`
  await queueEverything(tx, id)
}

async function staysInUse(sql: Queryable, id: string): Promise<boolean> {
  const { count } = await sql`
    UPDATE market.embedders SET used_at = now() WHERE embedder_id = ${id} AND ${isInUse(sql)}`
  return count > 0
}

/** Marks a model as ready if nothing is queued for it. */
export async function noteReady(sql: Queryable, embedderId: string): Promise<void> {
  await sql`
    UPDATE market.embedders AS e SET ready_at = now()
    WHERE embedder_id = ${embedderId} AND ready_at IS NULL
      AND NOT EXISTS (SELECT FROM market.texts_to_embed AS t WHERE t.embedder_id = e.embedder_id)`
}

/**
 * The number of queued texts by model, counted up to a limit, and for how long the longest due one waits. Nobody waits
 * for a model that is not in use any more while another one is.
 */
export const countTexts = (sql: Queryable) => sql<
  { embedder: string; count: number; oldestDueSeconds: number }[]
>`
  SELECT e.embedder_id AS embedder, (
    SELECT count(*)::integer FROM (
      SELECT FROM market.texts_to_embed AS t WHERE t.embedder_id = e.embedder_id LIMIT ${COUNTED}) AS counted) AS count, coalesce(greatest(0, extract(epoch FROM now() - (
    SELECT min(due_at) FROM market.texts_to_embed AS t WHERE t.embedder_id = e.embedder_id)))::float8, 0) AS "oldestDueSeconds"
  FROM market.embedders AS e WHERE used_at > (SELECT max(used_at) FROM market.embedders) - make_interval(mins => ${IN_USE_MINUTES})`

export interface Embedded {
  taken: Taken
  hash: Buffer
  vector: Vector
}

/** Stores vectors and removes their texts from the queue. */
export async function writeVectors(
  tx: Transaction,
  embedderId: string,
  embedded: readonly Embedded[],
): Promise<void> {
  const ofReviews: { internalId: bigint; hash: Buffer; vector: Vector }[] = []
  const ofProducts = new Map<number, { product: ProductOfChain; hash: Buffer; vector: Vector }[]>()
  for (const { taken, hash, vector } of embedded) {
    const { subject } = taken
    if (subject.what === 'review') ofReviews.push({ internalId: subject.internalId, hash, vector })
    else {
      const { chainId, product } = subject
      const ofChain = ofProducts.get(chainId) ?? []
      ofProducts.set(chainId, ofChain)
      ofChain.push({ product, hash, vector })
    }
  }
  for (const [chainId, written] of ofProducts) {
    const products = written.map(({ product }) => product)
    await touchListings(tx, chainId, products)
    await tx`
      INSERT INTO market.product_vectors (embedder_id, chain_id, merchant_id, product_id, text_hash, vector)
      SELECT ${embedderId}, ${chainId}, * FROM unnest(
        ${products.map(({ merchantId }) => merchantId)}::bigint[], ${products.map(({ productId }) => productId)}::bytea[],
        ${written.map(({ hash }) => hash)}::bytea[], ${written.map(({ vector }) => bytesOf(vector))}::bytea[]
      ) AS written (merchant_id, product_id, text_hash, vector) ORDER BY merchant_id, product_id
      ON CONFLICT (embedder_id, chain_id, merchant_id, product_id)
        DO UPDATE SET text_hash = excluded.text_hash, vector = excluded.vector`
  }
  if (ofReviews.length > 0)
    await tx`
      INSERT INTO market.review_vectors (embedder_id, internal_id, text_hash, vector)
      SELECT ${embedderId}, * FROM unnest(
        ${ofReviews.map(({ internalId }) => internalId)}::bigint[],
        ${ofReviews.map(({ hash }) => hash)}::bytea[], ${ofReviews.map(({ vector }) => bytesOf(vector))}::bytea[]
      ) AS written (internal_id, text_hash, vector) ORDER BY internal_id
      ON CONFLICT (embedder_id, internal_id) DO UPDATE SET text_hash = excluded.text_hash, vector = excluded.vector`
  await removeTexts(
    tx,
    embedded.map(({ taken }) => taken),
  )
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Vector) => Buffer.from(buffer, byteOffset, byteLength)

/** Deletes a batch of the data of unused models. False: nothing is left. */
export async function deleteUnused(sql: Sql): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [unused] = await tx<{ embedder_id: string }[]>`
      UPDATE market.embedders SET ready_at = NULL WHERE embedder_id = (
        SELECT embedder_id FROM market.embedders LEFT JOIN market.word_vectors AS w USING (embedder_id)
        WHERE used_at < now() - make_interval(days => CASE
          WHEN w.number < (SELECT max(number) FROM market.word_vectors) THEN ${KEPT_OLD_WORDS_DAYS}::integer
          ELSE ${KEPT_DAYS}::integer END)
        ORDER BY embedder_id LIMIT 1 FOR NO KEY UPDATE OF embedders SKIP LOCKED)
      RETURNING embedder_id`
    if (!unused) return false
    for (const table of ['texts_to_embed', 'product_vectors', 'review_vectors', 'vector_cells']) {
      const { count } = await tx`
        DELETE FROM market.${tx(table)} WHERE ctid = ANY(ARRAY(
          SELECT ctid FROM market.${tx(table)} WHERE embedder_id = ${unused.embedder_id} LIMIT ${DELETED_AT_ONCE}))`
      if (count > 0) return true
    }
    await tx`DELETE FROM market.embedders WHERE embedder_id = ${unused.embedder_id}`
    return true
  })
}
