// Writes products into the schema `search`. Only differences are written, so comparing everything again is cheap.
import { createHash } from 'node:crypto'
import type { Queryable, Transaction } from '@referrer/database'
import { documentOf, keyOf, type Product, stepOf } from '@referrer/search'
import { columns, integers } from './columns.ts'
import { Counts, writeCounts } from './counts.ts'
import {
  costOf,
  listOf,
  listOfCategory,
  listOfCost,
  listOfRank,
  listOfWorth,
  type NamedList,
} from './lists.ts'
import type { VectorTable } from './models.ts'
import type { Text, Texts } from './texts.ts'
import { packUses } from './uses.ts'
import { writeVectors } from './write-vectors.ts'

/**
 * Part of each text hash: the terms of a sample with all kinds of words, and the steps. When the term extraction
 * changes, the hashes change and all texts are processed again.
 */
export const TEXT_READER = JSON.stringify([
  Array.from({ length: 256 }, (_, worth) => stepOf(worth)),
  ...documentOf({
    name: 'Größe XL-42 running shoes',
    category: 'Läufe',
    description: 'for agencies, 靴 ٣',
    evidence: 'comfortable',
  }).worths,
])

type KeptRow = {
  slot: number
  merchant_id: bigint
  product_id: Buffer
  rank: number
  cost: number
  text_hash: Buffer
}
type OldRow = { lists: number[]; spelt: number[] }
type Row = { slot: number; product: Product; hash: Buffer; lists: number[]; uses: Buffer; spelt: number[] }

export interface Writing {
  vectors: VectorTable | undefined
  texts: Texts
  /** False: everything is counted at the end. */
  isCounting: boolean
}

/**
 * Updates products of one chain; no other process may write them meanwhile. Of the products in `keys`, only those in
 * `found` are open.
 */
export async function writeProducts(
  tx: Transaction,
  chainId: number,
  keys: readonly string[],
  found: readonly Product[],
  { vectors, texts, isCounting }: Writing,
): Promise<void> {
  const kept = await keptProducts(tx, chainId, keys)
  const open = new Set(found.map(({ key }) => key))
  const gone = [...kept].flatMap(([key, { slot }]) => (open.has(key) ? [] : [slot]))
  const hashes = new Map(found.map((product) => [product.key, hashOf(product)]))
  const isRead = ({ key }: Product) => hashes.get(key)?.equals(kept.get(key)?.text_hash ?? Buffer.alloc(0))
  const unread = found.filter((product) => !isRead(product))
  const moved = found.filter((product) => isRead(product) && !hasRankAndCost(product, kept.get(product.key)))

  const added = found.filter(({ key }) => !kept.has(key))
  const slots = new Map([...kept].map(([key, { slot }]) => [key, slot]))
  for (const [index, slot] of (await newSlots(tx, added.length)).entries()) {
    slots.set((added[index] as Product).key, slot)
  }
  const slotOf = ({ key }: Product) => slots.get(key) as number

  const read = await texts.read(tx, chainId, unread)
  const numberOf = await texts.terms.of(tx, chainId, filtersOf(found, [...kept.values()]))
  const listIn = ({ term, step }: NamedList) => listOf(numberOf(term), step)
  const rows = unread.map((product, index): Row => {
    const { worths, spelt } = read[index] as Text
    return {
      slot: slotOf(product),
      product,
      hash: hashes.get(product.key) ?? Buffer.alloc(0),
      lists: [
        ...worths.map(([term, worth]) => listOfWorth(term, worth)),
        listIn(listOfCategory(product.category)),
        listIn(listOfRank(product.rank)),
        listIn(listOfCost(costOf(product))),
      ],
      uses: packUses(worths),
      spelt,
    }
  })
  const moves = moved.map((product): Move => {
    const before = kept.get(product.key) as KeptRow
    return {
      slot: before.slot,
      rank: product.rank,
      cost: costOf(product),
      from: [listOfRank(before.rank), listOfCost(before.cost)].map(listIn),
      to: [listOfRank(product.rank), listOfCost(costOf(product))].map(listIn),
    }
  })

  const counts = new Counts()
  if (isCounting) {
    const changed = unread.flatMap(({ key }) => kept.get(key)?.slot ?? [])
    for (const old of await oldRows(tx, [...gone, ...changed])) counts.add(old.lists, old.spelt, -1)
    for (const { lists, spelt } of rows) counts.add(lists, spelt, 1)
    for (const { from, to } of moves) {
      counts.add(from, [], -1)
      counts.add(to, [], 1)
    }
  }
  await remove(tx, gone)
  await upsert(tx, chainId, rows)
  await move(tx, moves)
  if (isCounting) await writeCounts(tx, chainId, counts, added.length - gone.length)
  if (vectors) {
    const placed = found.map((product) => ({
      slot: slotOf(product),
      category: listIn(listOfCategory(product.category)),
      product,
    }))
    await writeVectors(tx, vectors, placed, gone)
  }
}

const hashOf = ({ name, category, description, evidence }: Product) =>
  createHash('sha256')
    .update(JSON.stringify([TEXT_READER, name, category, description, evidence]))
    .digest()

const hasRankAndCost = (product: Product, row: KeptRow | undefined) =>
  row?.rank === product.rank && row.cost === costOf(product)

/** The terms of categories, ranks and costs. */
function* filtersOf(found: readonly Product[], kept: readonly KeptRow[]): Generator<string> {
  for (const { category } of found) yield listOfCategory(category).term
  const present = found.map((product) => ({ rank: product.rank, cost: costOf(product) }))
  for (const { rank, cost } of [...kept, ...present]) {
    yield listOfRank(rank).term
    yield listOfCost(cost).term
  }
}

/** Some products in the index that are not open any more. */
export async function closedProducts(sql: Queryable, chainId: number, most: number): Promise<string[]> {
  const rows = await sql<Pick<KeptRow, 'merchant_id' | 'product_id'>[]>`
    SELECT merchant_id, product_id FROM search.documents AS d
    WHERE chain_id = ${chainId} AND NOT EXISTS (
      SELECT FROM market.listings AS l
      WHERE (l.chain_id, l.merchant_id, l.product_id) = (d.chain_id, d.merchant_id, d.product_id) AND l.is_open)
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
    SELECT d.slot, d.merchant_id, d.product_id, p.rank, p.cost, d.text_hash
    FROM unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) AS k (merchant_id, product_id)
    JOIN search.documents AS d ON d.chain_id = ${chainId} AND (d.merchant_id, d.product_id) = (k.merchant_id, k.product_id)
    JOIN search.products AS p ON p.slot = d.slot`
  return new Map(rows.map((row) => [keyOf(row.merchant_id, row.product_id), row]))
}

async function newSlots(tx: Transaction, count: number): Promise<number[]> {
  if (count === 0) return []
  const rows = await tx<{ slot: number }[]>`
    SELECT nextval('search.slots')::integer AS slot FROM generate_series(1, ${count}::integer)`
  return rows.map(({ slot }) => slot)
}

async function oldRows(tx: Transaction, slots: readonly number[]): Promise<OldRow[]> {
  if (slots.length === 0) return []
  return tx<OldRow[]>`
    SELECT p.lists, d.spelt FROM search.products AS p JOIN search.documents AS d USING (slot)
    WHERE p.slot = ANY(${[...slots]}::integer[])`
}

async function remove(tx: Transaction, slots: readonly number[]): Promise<void> {
  if (slots.length === 0) return
  await tx`DELETE FROM search.products WHERE slot = ANY(${[...slots]}::integer[])`
  await tx`DELETE FROM search.documents WHERE slot = ANY(${[...slots]}::integer[])`
}

async function upsert(tx: Transaction, chainId: number, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  const slots = rows.map(({ slot }) => slot)
  await tx`
    INSERT INTO search.products (slot, chain_id, rank, cost, lists)
    SELECT slot, ${chainId}, rank, cost, lists::integer[]
    FROM unnest(${slots}::integer[], ${rows.map(({ product }) => product.rank)}::float8[],
      ${rows.map(({ product }) => costOf(product))}::float8[], ${rows.map(({ lists }) => integers(lists))}::text[]
    ) AS k (slot, rank, cost, lists)
    ON CONFLICT (slot) DO UPDATE SET rank = excluded.rank, cost = excluded.cost, lists = excluded.lists`
  const [merchantIds, productIds] = columns(rows.map(({ product }) => product.key))
  await tx`
    INSERT INTO search.documents (slot, chain_id, merchant_id, product_id, text_hash, uses, spelt)
    SELECT slot, ${chainId}, merchant_id, product_id, text_hash, uses, spelt::integer[]
    FROM unnest(${slots}::integer[], ${merchantIds}::bigint[], ${productIds}::bytea[], ${rows.map(({ hash }) => hash)}::bytea[],
      ${rows.map(({ uses }) => uses)}::bytea[], ${rows.map(({ spelt }) => integers(spelt))}::text[]
    ) AS k (slot, merchant_id, product_id, text_hash, uses, spelt)
    ON CONFLICT (slot) DO UPDATE SET text_hash = excluded.text_hash, uses = excluded.uses, spelt = excluded.spelt`
}

type Move = { slot: number; rank: number; cost: number; from: number[]; to: number[] }

/** The lists of the text stay as they are; a rank of the same class leaves the index alone. */
async function move(tx: Transaction, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return
  const list = (side: 'from' | 'to', at: number) => moves.map((move) => move[side][at] as number)
  await tx`
    UPDATE search.products AS p SET rank = k.rank, cost = k.cost,
      lists = array_replace(array_replace(p.lists, from_rank, to_rank), from_cost, to_cost)
    FROM unnest(${moves.map(({ slot }) => slot)}::integer[], ${moves.map(({ rank }) => rank)}::float8[],
      ${moves.map(({ cost }) => cost)}::float8[], ${list('from', 0)}::integer[], ${list('to', 0)}::integer[],
      ${list('from', 1)}::integer[], ${list('to', 1)}::integer[]
    ) AS k (slot, rank, cost, from_rank, to_rank, from_cost, to_cost)
    WHERE p.slot = k.slot`
}
