// Where the keeper of the tables stood, so that the next one goes on from there instead of comparing a million products.
// It is stored with the tables, so a restored or promoted database brings its own.
import type { Sql } from '@referrer/database'
import { TEXT_READER } from './write.ts'

export interface Standing {
  /** The model whose vectors are kept. */
  embedderId: string | undefined
  snapshot: string
}

/** Transaction ids say nothing on another server, and what another model or reader made has to be made again. */
async function madeWith(sql: Sql, embedderId: string | undefined): Promise<string> {
  const [row] = await sql<[{ server: string }]>`
    SELECT system_identifier || ' ' || current_database() AS server FROM pg_control_system()`
  return `${row.server} ${embedderId} ${TEXT_READER}`
}

export async function storeStanding(
  sql: Sql,
  chainIds: readonly number[],
  { embedderId, snapshot }: Standing,
): Promise<void> {
  await sql`
    UPDATE search.catalogues SET made_with = ${await madeWith(sql, embedderId)}, snapshot = ${snapshot}
    WHERE chain_id = ANY(${[...chainIds]}::bigint[])`
}

/** The snapshot to follow changes from; undefined: everything has to be compared. */
export async function readStanding(
  sql: Sql,
  chainIds: readonly number[],
  embedderId: string | undefined,
): Promise<string | undefined> {
  const rows = await sql<{ snapshot: string }[]>`
    SELECT snapshot FROM search.catalogues
    WHERE chain_id = ANY(${[...chainIds]}::bigint[]) AND is_ready AND made_with = ${await madeWith(sql, embedderId)}`
  const [first] = rows
  return rows.length === chainIds.length && rows.every(({ snapshot }) => snapshot === first?.snapshot)
    ? first?.snapshot
    : undefined
}
