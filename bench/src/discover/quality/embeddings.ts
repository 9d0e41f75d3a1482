// Vectors by the model that comes with the service. It takes minutes for a catalogue, so that what it made once is kept.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sql } from '@referrer/database'
import {
  createLocal,
  LOCAL,
  type LocalEmbedder,
  productText,
  productTextHash,
} from '@referrer/service/testing'
import { CHAIN_ID } from '../../http/market.ts'
import { progress } from '../../stage.ts'

export type { LocalEmbedder }
export const openModel = (): LocalEmbedder => createLocal()

const HASH_BYTES = 32
const RECORD_BYTES = HASH_BYTES + LOCAL.dims
const AT_ONCE = 64
const TOLD_EVERY = 2_048
const KEPT = fileURLToPath(
  new URL(
    `../../../../node_modules/.cache/referrer-bench/${LOCAL.id.replaceAll(/\W+/g, '-')}.vectors`,
    import.meta.url,
  ),
)

/** Embeds all products of a market, as its worker would, with a model for each core. */
export async function embedProducts(sql: Sql): Promise<void> {
  const kept = readKept()
  const products = await sql<Embedded[]>`
    SELECT DISTINCT ON (hash) ${productText(sql)} AS text, ${productTextHash(sql)} AS hash FROM market.products AS p`
  const missing = products.filter(({ hash }) => !kept.has(hash.toString('hex')))
  mkdirSync(dirname(KEPT), { recursive: true })
  let done = 0
  async function embedSome(): Promise<void> {
    const model = openModel()
    for (let some = missing.splice(0, AT_ONCE); some.length > 0; some = missing.splice(0, AT_ONCE)) {
      if (done % TOLD_EVERY === 0) progress(`embedding products: ${missing.length + some.length} to go`)
      done += some.length
      const vectors = await model.embed(some.map(({ text }) => text))
      const bytes = some.map((_, at) => Buffer.from(vectors[at] ?? []))
      for (const [at, { hash }] of some.entries())
        kept.set(hash.toString('hex'), bytes[at] ?? Buffer.alloc(0))
      appendFileSync(
        KEPT,
        Buffer.concat(some.flatMap(({ hash }, at) => [hash, bytes[at] ?? Buffer.alloc(0)])),
      )
    }
    await model.close()
  }
  if (missing.length > 0) await Promise.all(Array.from({ length: availableParallelism() }, embedSome))
  await write(
    sql,
    products.map(({ hash }) => ({ hash, vector: kept.get(hash.toString('hex')) ?? Buffer.alloc(0) })),
  )
}

type Embedded = { text: string; hash: Buffer }

async function write(sql: Sql, vectors: { hash: Buffer; vector: Buffer }[]): Promise<void> {
  await sql`
    INSERT INTO market.embedders (embedder_id, dims, ready_at) VALUES (${LOCAL.id}, ${LOCAL.dims}, now())`
  for (let at = 0; at < vectors.length; at += TOLD_EVERY) {
    const some = vectors.slice(at, at + TOLD_EVERY)
    await sql`
      INSERT INTO market.product_vectors (embedder_id, chain_id, merchant_id, product_id, text_hash, vector)
      SELECT ${LOCAL.id}, p.chain_id, p.merchant_id, p.product_id, v.hash, v.vector
      FROM unnest(${some.map(({ hash }) => hash)}::bytea[], ${some.map(({ vector }) => vector)}::bytea[]) AS v (hash, vector)
      JOIN market.products AS p ON p.chain_id = ${CHAIN_ID} AND ${productTextHash(sql)} = v.hash`
  }
}

function readKept(): Map<string, Buffer> {
  const kept = new Map<string, Buffer>()
  if (!existsSync(KEPT)) return kept
  const bytes = readFileSync(KEPT)
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES)
    kept.set(bytes.toString('hex', at, at + HASH_BYTES), bytes.subarray(at + HASH_BYTES, at + RECORD_BYTES))
  return kept
}
