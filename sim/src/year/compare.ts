import type { Market } from '../market.ts'
import { account } from './accounts.ts'
import type { Replay } from './replay.ts'

/** Throws at the first Review Rank that differs from the service's tables. */
export async function compareRanks({ sql, chainId }: Replay, { agents }: Market): Promise<number> {
  const rows = await sql<{ agent_id: bigint; repeat: number | null; one_off: number | null }[]>`
    SELECT agent_id, repeat, one_off FROM market.review_ranks WHERE chain_id = ${chainId}`
  const theirs = new Map(rows.map((row) => [Number(row.agent_id), row]))
  for (const { id, ranks } of agents) {
    for (const type of ['repeat', 'one_off'] as const) {
      differ(`the ${type} rank of agent ${id}`, theirs.get(id)?.[type] ?? null, ranks[type])
    }
  }
  return 2 * agents.length
}

export async function compareProducts(replay: Replay, { products, opinions }: Market): Promise<number> {
  const { sql, chainId, productId } = replay
  const rows = await sql<{ product_id: Buffer; rank: number }[]>`
    SELECT product_id, rank FROM market.product_totals WHERE chain_id = ${chainId}`
  const theirs = new Map(rows.map((row) => [row.product_id.toString('hex'), row.rank]))
  for (const product of products) {
    const rank = theirs.get(productId(product.id).toString('hex'))
    differ(`the rank of product ${product.id}`, rank, opinions.rankOf(product))
  }
  return products.length
}

/** Compares what each owner spent at each shop: the standings rest on it. */
export async function compareSpent({ sql, chainId }: Replay, { standings }: Market): Promise<number> {
  const rows = await sql<{ owner: Buffer; merchant_id: bigint; spent: bigint }[]>`
    SELECT owner, merchant_id, spent FROM market.spent_at_shops WHERE chain_id = ${chainId}`
  const theirs = new Map(
    rows.map(({ owner, merchant_id, spent }) => [`${owner.toString('hex')} at ${merchant_id}`, spent]),
  )
  let compared = 0
  for (const [owner, shops] of standings.spent) {
    for (const [shop, spent] of shops) {
      const who = `${account(owner).toString('hex')} at ${shop.id}`
      differ(`what was spent by ${who}`, theirs.get(who), spent)
      compared++
    }
  }
  differ('the number of owners and shops with spending', rows.length, compared)
  return compared
}

/** Compares the last finding on every review, the outcome shown for it, and the number of findings. */
export async function compareFindings(
  { sql, chainId }: Replay,
  { reviews, oracle }: Market,
): Promise<number> {
  const rows = await sql<
    { internal_id: bigint; shown: string; outcome: string | null; size: number | null }[]
  >`
    SELECT m.internal_id, m.comparison_outcome AS shown, f.outcome, f.size FROM market.reviews AS m
    LEFT JOIN LATERAL (
      SELECT outcome, size FROM market.findings AS f WHERE f.internal_id = m.internal_id ORDER BY finding_id DESC LIMIT 1) AS f ON true
    WHERE m.chain_id = ${chainId} ORDER BY m.internal_id`
  for (const [at, { id, outcome, finding }] of reviews.entries()) {
    const row = rows[at]
    differ(`what is shown of review ${id}`, row?.shown, outcome)
    differ(`what was found of review ${id}`, row?.outcome ?? null, finding?.outcome ?? null)
    differ(`the size of what was found of review ${id}`, row?.size ?? null, finding?.size ?? null)
  }
  const [count] = await sql<[{ count: bigint }]>`
    SELECT count(*)::bigint AS count FROM market.findings WHERE chain_id = ${chainId}`
  differ('the number of findings', Number(count.count), oracle.findings)
  return reviews.length
}

function differ(what: string, theirs: unknown, ours: unknown): void {
  if (theirs !== ours)
    throw new Error(`${what} is ${theirs} in the service's tables and ${ours} in the model`)
}
