import type { Sql } from '@referrer/database'
import { CHAIN_ID } from './chain.ts'
import type { Contender } from './contenders.ts'
import { CONTRACTS } from './contracts.ts'
import type { Counts } from './node.ts'

export type Fingerprint = { rows: number; digest: string }

/** Whether the newest of what was counted can be seen in the tables: three look-ups by key, cheap enough to ask all the time. */
export async function isVisible(sql: Sql, { tables, bytes }: Contender, counts: Counts): Promise<boolean> {
  const { identities = 0, reviews = 0, escrows = 0 } = counts
  const newest = [
    `FROM ${tables.identities} WHERE chain_id = ${CHAIN_ID} AND agent_id = ${identities - 1}`,
    `FROM ${tables.reviews} WHERE chain_id = ${CHAIN_ID} AND review_id = ${reviews}`,
    `FROM ${tables.escrows} WHERE chain_id = ${CHAIN_ID} AND contract = '${bytes(CONTRACTS.escrow)}' AND escrow_id = ${escrows}`,
  ]
  const [row] = await sql.unsafe<{ seen: boolean }[]>(
    `SELECT ${newest.map((rest) => `EXISTS (SELECT ${rest})`).join(' AND ')} AS seen`,
  )
  return row?.seen ?? false
}

/** Whether all tables exist yet. */
export async function areTablesThere(sql: Sql, { tables }: Contender): Promise<boolean> {
  const names = Object.values(tables)
  const [row] = await sql<{ there: boolean }[]>`
    SELECT bool_and(to_regclass(name) IS NOT NULL) AS there FROM unnest(${names}::text[]) AS name`
  return row?.there ?? false
}

export async function columnsOf(sql: Sql, table: string): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; type: string }[]>`
    SELECT attname AS name, atttypid::regtype::text AS type FROM pg_attribute
    WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped`
  return new Map(rows.map(({ name, type }) => [name, type]))
}

/** A digest of these columns of every row, the same however the columns are stored. */
export async function fingerprint(sql: Sql, table: string, columns: string[]): Promise<Fingerprint> {
  const types = await columnsOf(sql, table)
  const line = columns.map((column) => spelled(column, types.get(column)))
  const [row] = await sql.unsafe<{ rows: number; digest: string }[]>(
    `SELECT count(*)::int AS rows, coalesce(md5(string_agg(line, ';' ORDER BY line COLLATE "C")), '') AS digest
     FROM (SELECT concat_ws(',', ${line.join(', ')}) AS line FROM ${table}) AS lines`,
  )
  if (!row) throw new Error(`${table} cannot be counted`)
  return row
}

function spelled(column: string, type: string | undefined): string {
  switch (type) {
    case undefined:
      throw new Error(`there is no column ${column}`)
    case 'bytea':
      return `coalesce('0x' || encode(${column}, 'hex'), '-')`
    case 'timestamp with time zone':
      return `coalesce(extract(epoch FROM ${column})::bigint::text, '-')`
    default:
      return `coalesce(${column}::text, '-')`
  }
}
