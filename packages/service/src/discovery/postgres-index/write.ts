// Writes products into the schema `search`. Only differences are written, so comparing everything again is cheap.
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { Queryable, Transaction } from '@referrer/database'
import { canBeMisspelt, documentOf, keyOf, type Product } from '@referrer/search'
import { columns, costOf } from './columns.ts'
import { Counts, writeCounts } from './counts.ts'
import type { VectorTable } from './models.ts'
import { writeVectors } from './write-vectors.ts'

/** Longer terms are not words and do not fit into an index. */
const LONGEST_TERM = 250
/** Texts are processed in slices of this length, so that requests are not blocked longer. */
const SLICE_MS = 5

/**
 * Part of each text hash: the terms of a sample with all kinds of words. When the term extraction changes, the hashes
 * change and all texts are processed again.
 */
const TEXT_READER = JSON.stringify([
  ...documentOf({
    name: 'Größe XL-42 running shoes',
    category: 'Läufe',
    description: 'for agencies, 靴 ٣',
    evidence: 'comfortable',
  }).worths,
])

type KeptRow = {
  merchant_id: bigint
  product_id: Buffer
  rank: number
  cost: number
  text_hash: Buffer
}
type OldRow = { worths: Record<string, number>; spelt: string[] }
type Document = { worths: [string, number][]; spelt: string[] }

/**
 * Updates products of one chain; no other process may write them meanwhile. Of the products in `keys`, only those in
 * `found` are open.
 */
export async function writeProducts(
  tx: Transaction,
  chainId: number,
  keys: readonly string[],
  found: readonly Product[],
  vectors: VectorTable | undefined,
): Promise<void> {
  const kept = await keptProducts(tx, chainId, keys)
  const open = new Set(found.map(({ key }) => key))
  const gone = [...kept.keys()].filter((key) => !open.has(key))
  const hashes = new Map(found.map((product) => [product.key, hashOf(product)]))
  const isRead = ({ key }: Product) => hashes.get(key)?.equals(kept.get(key)?.text_hash ?? Buffer.alloc(0))
  const unread = found.filter((product) => !isRead(product))
  const moved = found.filter((product) => isRead(product) && !hasRankAndCost(product, kept.get(product.key)))

  const counts = new Counts()
  for (const old of await oldDocuments(tx, chainId, [...gone, ...unread.map(({ key }) => key)])) {
    counts.add(Object.entries(old.worths), old.spelt, -1)
  }
  const documents = await readDocuments(unread)
  for (const { worths, spelt } of documents) counts.add(worths, spelt, 1)

  await remove(tx, chainId, gone)
  await upsert(tx, chainId, unread, documents, hashes)
  await updateRankAndCost(tx, chainId, moved)
  await writeCounts(tx, chainId, counts, found.filter(({ key }) => !kept.has(key)).length - gone.length)
  if (vectors) await writeVectors(tx, vectors, found, gone)
}

const hashOf = ({ name, category, description, evidence }: Product) =>
  createHash('sha256')
    .update(JSON.stringify([TEXT_READER, name, category, description, evidence]))
    .digest()

const hasRankAndCost = (product: Product, row: KeptRow | undefined) =>
  row?.rank === product.rank && row.cost === costOf(product)

/** Some products in the index that are not open any more. */
export async function closedProducts(sql: Queryable, chainId: number, most: number): Promise<string[]> {
  const rows = await sql<Pick<KeptRow, 'merchant_id' | 'product_id'>[]>`
    SELECT merchant_id, product_id FROM search.products AS p
    WHERE chain_id = ${chainId} AND NOT EXISTS (
      SELECT FROM market.listings AS l
      WHERE (l.chain_id, l.merchant_id, l.product_id) = (p.chain_id, p.merchant_id, p.product_id) AND l.is_open)
    LIMIT ${most}`
  return rows.map(({ merchant_id, product_id }) => keyOf(merchant_id, product_id))
}

async function keptProducts(
  tx: Transaction,
  chainId: number,
  keys: readonly string[],
): Promise<Map<string, KeptRow>> {
  const [merchantIds, productIds] = columns(keys)
  const rows = await tx<KeptRow[]>`
    SELECT merchant_id, product_id, rank, cost, text_hash FROM search.products
    JOIN unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) AS k (merchant_id, product_id) USING (merchant_id, product_id)
    WHERE chain_id = ${chainId}`
  return new Map(rows.map((row) => [keyOf(row.merchant_id, row.product_id), row]))
}

async function oldDocuments(tx: Transaction, chainId: number, keys: readonly string[]): Promise<OldRow[]> {
  if (keys.length === 0) return []
  const [merchantIds, productIds] = columns(keys)
  return tx<OldRow[]>`
    SELECT worths, spelt FROM search.products
    JOIN unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) AS k (merchant_id, product_id) USING (merchant_id, product_id)
    WHERE chain_id = ${chainId}`
}

/** In slices, because it runs in the process that answers requests. */
async function readDocuments(products: readonly Product[]): Promise<Document[]> {
  const documents: Document[] = []
  let begun = performance.now()
  for (const product of products) {
    const { worths, words } = documentOf(product)
    const kept = [...worths].filter(([term, worth]) => worth > 0 && term.length <= LONGEST_TERM)
    documents.push({ worths: kept, spelt: [...words].filter(canBeMisspelt) })
    if (performance.now() - begun < SLICE_MS) continue
    await turn()
    begun = performance.now()
  }
  return documents
}

async function remove(tx: Transaction, chainId: number, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  const [merchantIds, productIds] = columns(keys)
  await tx`
    DELETE FROM search.products AS p USING unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) AS k (merchant_id, product_id)
    WHERE p.chain_id = ${chainId} AND (p.merchant_id, p.product_id) = (k.merchant_id, k.product_id)`
}

async function upsert(
  tx: Transaction,
  chainId: number,
  products: readonly Product[],
  documents: readonly Document[],
  hashes: ReadonlyMap<string, Buffer>,
): Promise<void> {
  if (products.length === 0) return
  const [merchantIds, productIds] = columns(products.map(({ key }) => key))
  await tx`
    INSERT INTO search.products (chain_id, merchant_id, product_id, category, rank, cost, text_hash, worths, spelt, terms)
    SELECT ${chainId}, merchant_id, product_id, category, rank, cost, text_hash, worths::jsonb, spelt::text[], terms::tsvector
    FROM unnest(${merchantIds}::bigint[], ${productIds}::bytea[], ${products.map(({ category }) => category)}::text[],
      ${products.map(({ rank }) => rank)}::float8[], ${products.map(costOf)}::float8[],
      ${products.map(({ key }) => hashes.get(key) ?? Buffer.alloc(0))}::bytea[],
      ${documents.map(({ worths }) => JSON.stringify(Object.fromEntries(worths)))}::text[],
      ${documents.map(({ spelt }) => `{${spelt.map((word) => `"${word}"`).join()}}`)}::text[],
      ${documents.map(({ worths }) => worths.map(spell).join(' '))}::text[]
    ) AS k (merchant_id, product_id, category, rank, cost, text_hash, worths, spelt, terms)
    ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET category = excluded.category, rank = excluded.rank,
      cost = excluded.cost, text_hash = excluded.text_hash, worths = excluded.worths, spelt = excluded.spelt, terms = excluded.terms`
}

/** A lexeme in tsvector syntax; terms contain only letters and digits. */
const spell = ([term, worth]: [string, number]) => `'${term}':1${'DCBA'[worth >> 6]}`

async function updateRankAndCost(
  tx: Transaction,
  chainId: number,
  products: readonly Product[],
): Promise<void> {
  if (products.length === 0) return
  const [merchantIds, productIds] = columns(products.map(({ key }) => key))
  await tx`
    UPDATE search.products AS p SET rank = k.rank, cost = k.cost
    FROM unnest(${merchantIds}::bigint[], ${productIds}::bytea[], ${products.map(({ rank }) => rank)}::float8[],
      ${products.map(costOf)}::float8[]) AS k (merchant_id, product_id, rank, cost)
    WHERE p.chain_id = ${chainId} AND (p.merchant_id, p.product_id) = (k.merchant_id, k.product_id)`
}
