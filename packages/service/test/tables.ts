// Compares the database with a replay of the chain.
import type { Sql } from '@referrer/database'
import { bytesToHex } from 'viem'
import type { World } from './world.ts'

type Value = bigint | number | boolean | string | null
type Row = Record<string, Value>

const MIRRORED: (keyof World)[] = [
  'identities',
  'ownership_changes',
  'merchants',
  'merchant_roles',
  'products',
  'reviews',
  'review_edits',
  'escrows',
  'payouts',
  'skipped_escrows',
]

/** Rows of `schema.table` of a chain, in comparable form. */
export async function rowsOf(sql: Sql, table: string, chainId: number): Promise<Row[]> {
  const rows = await sql.unsafe(`SELECT * FROM ${table} WHERE chain_id = $1`, [chainId])
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
  )
}

function plain(value: unknown): Value {
  if (value instanceof Date) return BigInt(value.getTime()) / 1_000n
  if (value instanceof Uint8Array) return bytesToHex(value)
  return value as Value
}

/** Every row that is in only one of them; empty if the tables are equal. */
export function differences(table: string, expected: object[], actual: object[]): string[] {
  const count = new Map<string, number>()
  for (const row of expected) add(count, spell(row), 1)
  for (const row of actual) add(count, spell(row), -1)
  return [...count]
    .filter(([, balance]) => balance !== 0)
    .map(([row, balance]) => `${balance > 0 ? 'missing from' : 'too much in'} ${table}: ${row}`)
    .sort()
}

const add = (count: Map<string, number>, key: string, by: number) =>
  count.set(key, (count.get(key) ?? 0) + by)

/** Types are compared: 1 and 1n differ. */
const spell = (row: object) =>
  Object.entries(row)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? JSON.stringify(value) : `${value}`}`)
    .join(' ')

/** The differences between all mirrored tables of a chain and the replay. */
export async function mirrorDifferences(sql: Sql, chainId: number, world: World): Promise<string[]> {
  const all: string[] = []
  for (const table of MIRRORED) {
    const actual = await rowsOf(sql, `chain.${table}`, chainId)
    const expected: object[] =
      table === 'reviews'
        ? world.reviews.map(({ published_hash: _hash, author_owner: _owner, ...row }) => row)
        : world[table]
    const found = table === 'reviews' ? actual.map(({ internal_id: _, ...row }) => row) : actual
    all.push(...differences(`chain.${table}`, expected, found))
  }
  return [
    ...all,
    ...(await numberDifferences(sql, chainId, world)),
    ...(await spentDifferences(sql, chainId, world)),
  ]
}

/** Every purchase counts on its day for the payer and for the owner of the buying agent at that time. */
async function spentDifferences(sql: Sql, chainId: number, { escrows }: World): Promise<string[]> {
  const sums = new Map<string, bigint>()
  for (const { payer, buyer_owner, deposited_at, price } of escrows) {
    const day = new Date(Number(deposited_at) * 1_000).toISOString().slice(0, 10)
    for (const owner of new Set([payer, buyer_owner ?? payer])) {
      const key = `${owner} ${day}`
      sums.set(key, (sums.get(key) ?? 0n) + price)
    }
  }
  const expected = [...sums].map(([key, amount]) => ({ key, amount })).filter(({ amount }) => amount !== 0n)
  const actual = await sql<{ key: string; amount: bigint }[]>`
    SELECT '0x' || encode(owner, 'hex') || ' ' || day::text AS key, amount FROM market.spent
    WHERE chain_id = ${chainId} AND amount <> 0`
  return differences('market.spent', expected, [...actual])
}

/**
 * Every review on the chain has a record with its content and its author's owner at that time, and no two share one.
 */
async function numberDifferences(sql: Sql, chainId: number, world: World): Promise<string[]> {
  const joined = await sql`
    SELECT c.review_id, r.chain_id, r.agent_id, r.merchant_id, r.product_id, r.published_hash, r.author_owner, r.proof_kind,
      r.proof_id
    FROM chain.reviews AS c JOIN market.reviews AS r USING (internal_id) WHERE c.chain_id = ${chainId}`
  const actual = joined.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
  )
  const expected = world.reviews.map(
    ({
      content_hash: _hash,
      published_at: _published,
      edited_at: _edited,
      block_number: _block,
      log_index: _log,
      ...row
    }) => row,
  )
  return differences('chain.reviews joined to market.reviews', expected, actual)
}

/**
 * The differences of the service's own records, once every block is final: they must be those of the chain and no
 * others.
 */
export async function recordDifferences(
  sql: Sql,
  chainId: number,
  world: World,
  cashbackOf: (agentId: bigint) => number,
): Promise<string[]> {
  const without = (rows: Row[], ...names: string[]) =>
    rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name))))
  const agents = world.identities.map(({ chain_id, agent_id }) => ({
    ...{
      chain_id,
      agent_id,
      registered_at: null,
      uri: '',
      payment_wallet: null,
      flagged: false,
      flagged_at: null,
    },
    ...{ learned_in: null, registered_by: null },
  }))
  const products = world.products.map(({ chain_id, merchant_id, product_id }) => ({
    ...{ chain_id, merchant_id, product_id, endpoint_url: null, name: '', description: '', category: '' },
    ...{ rank: 0.5, described_at: null, learned_in: null, linked_endpoint: null, linked_signer: '' },
  }))
  const reviews = world.reviews.map((review) => {
    const {
      chain_id,
      agent_id,
      merchant_id,
      product_id,
      published_hash,
      author_owner,
      proof_kind,
      proof_id,
    } = review
    return {
      ...{ chain_id, agent_id, merchant_id, product_id, published_hash, author_owner, proof_kind, proof_id },
      ...{ opinion_size: null, opinion_weight: null, opinion_agrees: null },
      ...{
        cashback_bps: cashbackOf(agent_id),
        content: null,
        content_hash: null,
        short_content: null,
        satisfaction_score: null,
      },
      ...{ comparison_outcome: 'pending', learned_in: null, repeated: 0 },
      ...{ ref_token: null, ref_key: null, ref_review_id: null },
    }
  })
  const rows = async (table: string, ...names: string[]) =>
    without(await rowsOf(sql, `market.${table}`, chainId), ...names)
  return [
    ...differences('market.agents', agents, await rows('agents', 'recorded_at')),
    ...differences('market.products', products, await rows('products')),
    ...differences('market.reviews', reviews, await rows('reviews', 'internal_id', 'entered_at')),
  ]
}
