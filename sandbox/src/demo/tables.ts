import type { Queryable } from '@referrer/database'

/** The records of the demo that no chain tells and nothing derives, each after those it refers to. */
export const TABLES = [
  'market.agents',
  'market.cashback_rates',
  'market.merchants',
  'market.products',
  'market.proofs',
  'market.reviews',
  'market.ballots',
  'market.votes',
] as const

/** What the service computes in these rows, from other records, from blocks or from the address it is at. */
const COMPUTED = new Set([
  'learned_in',
  'rank',
  'comparison_outcome',
  'ref_token',
  'ref_key',
  'ref_review_id',
  'linked_endpoint',
  'linked_signer',
  // Of the standings, which the demo has none of: without a verified shop they say nothing more than the weights.
  'supports',
  'voter_standing',
  'shop_standing',
  'opinion_agrees',
])

export interface Columns {
  all: string[]
  times: string[]
  /** That counts the rows; undefined: none does. */
  identity: string | undefined
}

export async function columnsOf(sql: Queryable, table: string): Promise<Columns> {
  const columns = await sql<{ name: string; type: string; is_identity: boolean }[]>`
    SELECT column_name AS name, data_type AS type, is_identity = 'YES' AS is_identity
    FROM information_schema.columns
    WHERE table_schema || '.' || table_name = ${table} AND is_generated = 'NEVER'
    ORDER BY ordinal_position`
  const kept = columns.filter(({ name }) => !COMPUTED.has(name))
  return {
    all: kept.map(({ name }) => name),
    times: kept.filter(({ type }) => type === 'timestamp with time zone').map(({ name }) => name),
    identity: kept.find(({ is_identity }) => is_identity)?.name,
  }
}
