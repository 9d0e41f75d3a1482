import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chainMigrations } from '@referrer/chain'
import { migrate, type Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillMarket } from '../../testing/records.ts'
import { migrations, serviceMigrations } from './migrations.ts'

const ROWS = 500
let grown: TestDatabase

beforeAll(async () => {
  grown = await databaseBefore('0021_chat.sql')
})
afterAll(() => grown.drop())

/** A database with all migrations of the service that come before this file. */
async function databaseBefore(end: string): Promise<TestDatabase> {
  const old = await mkdtemp(join(tmpdir(), 'referrer-migrations-'))
  try {
    const files = (await readdir(serviceMigrations.directory)).filter((file) => file.endsWith('.sql')).sort()
    const before = files.filter((file) => file < end)
    for (const file of before) await copyFile(new URL(file, serviceMigrations.directory), join(old, file))
    const database = await freshDatabase()
    await migrate(database.sql, [
      chainMigrations,
      { ...serviceMigrations, directory: pathToFileURL(`${old}/`) },
    ])
    return database
  } finally {
    await rm(old, { recursive: true })
  }
}

type Table = { relation: string; columns: string[] }

/** The last migrations drop these: codes are valid for ten minutes, and what these columns held was never read. */
const DROPPED = ['market.link_codes.chain_id', 'market.link_codes.agent_id', 'market.link_codes.used_at']
const withoutDropped = ({ relation, columns }: Table): Table => ({
  relation,
  columns: columns.filter((column) => !DROPPED.includes(`${relation}.${column}`)),
})

/** The tables of all schemas with their columns. */
const tables = (sql: Sql) => sql<Table[]>`
  SELECT format('%I.%I', table_schema, table_name) AS relation,
    array_agg(quote_ident(column_name) ORDER BY ordinal_position) AS columns
  FROM information_schema.columns WHERE table_schema IN ('chain', 'market', 'jobs', 'indexer', 'sender')
  GROUP BY 1 ORDER BY 1`

/** The rows of these tables, in these columns. */
async function contents(sql: Sql, of: Table[]): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const { relation, columns } of of) {
    const rows = await sql.unsafe<{ row: string }[]>(
      `SELECT row::text FROM (SELECT ${columns} FROM ${relation}) AS row ORDER BY 1`,
    )
    found[relation] = rows.map(({ row }) => row)
  }
  return found
}

/** A line for everything that migrations make. */
async function schema(sql: Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    WITH ours AS (SELECT oid, nspname FROM pg_namespace WHERE nspname IN ('chain', 'market', 'jobs', 'indexer', 'sender'))
    SELECT format('column %s.%s.%s %s null %s default %s identity %s', table_schema, table_name, column_name,
      data_type || coalesce('(' || numeric_precision || ',' || numeric_scale || ')', ''), is_nullable, column_default, is_identity) AS line
      FROM information_schema.columns WHERE table_schema IN (SELECT nspname FROM ours)
    UNION ALL SELECT 'index ' || pg_get_indexdef(i.indexrelid)
      FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN ours ON ours.oid = c.relnamespace
    UNION ALL SELECT format('constraint %s on %s: %s', conname, conrelid::regclass, pg_get_constraintdef(c.oid))
      FROM pg_constraint AS c JOIN ours ON ours.oid = c.connamespace
    UNION ALL SELECT 'trigger ' || pg_get_triggerdef(t.oid)
      FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN ours ON ours.oid = c.relnamespace WHERE NOT tgisinternal
    UNION ALL SELECT 'function ' || pg_get_functiondef(p.oid) FROM pg_proc AS p JOIN ours ON ours.oid = p.pronamespace
    ORDER BY 1`
  return rows.map(({ line }) => line)
}

describe('the last migrations', () => {
  it('keeps every row of a filled database, in all columns that stay', async () => {
    for (const chain of [1, 2]) await fillMarket(grown.sql, chain, ROWS)
    await grown.sql`
      INSERT INTO market.link_codes (code_hash, direction, owner, chain_id, agent_id, minted_at, expires_at)
      VALUES (sha256('code'), 'chat', sha256('owner'), 1, 1, now(), now())`
    const before = (await tables(grown.sql)).map(withoutDropped)
    const rows = await contents(grown.sql, before)
    expect(rows['market.reviews']).toHaveLength(2 * ROWS)
    await migrate(grown.sql, migrations)
    const after = await contents(grown.sql, before)
    // Migrations may queue changes for the followers, and take none away.
    const { 'market.pending_changes': queued = [], ...kept } = after
    const { 'market.pending_changes': waiting = [], ...rest } = rows
    expect(kept).toEqual(rest)
    expect(queued).toEqual(expect.arrayContaining(waiting))
    expect(rows['market.link_codes']).toHaveLength(1)
  })

  it('ends in the schema that a new database has', async () => {
    const fresh = await freshDatabase(migrations)
    try {
      await migrate(grown.sql, migrations)
      const expected = await schema(fresh.sql)
      expect(await schema(grown.sql)).toEqual(expected)
      for (const kind of ['column', 'index', 'constraint', 'trigger', 'function'])
        expect(expected.some((line) => line.startsWith(kind))).toBe(true)
    } finally {
      await fresh.drop()
    }
  })
})

it('a database whose former job queue holds rows is upgraded, and keeps its schedules', async () => {
  const { sql, drop } = await databaseBefore('0019_no_job_queue.sql')
  try {
    await sql`INSERT INTO jobs.live (queue, payload, max_attempts) VALUES ('mail', '{}', 3)`
    await sql`
      INSERT INTO jobs.dead (id, queue, payload, attempts, max_attempts, errors, created_at)
      VALUES (41, 'mail', '{}', 3, 3, '[]', now())`
    await sql`INSERT INTO jobs.schedules (name, every_seconds) VALUES ('sweep', 60)`
    await migrate(sql, migrations)
    const left = (await tables(sql)).filter(({ relation }) => relation.startsWith('jobs.'))
    expect(left.map(({ relation }) => relation)).toEqual(['jobs.caller_positions', 'jobs.schedules'])
    expect(await sql`SELECT name, every_seconds FROM jobs.schedules`).toEqual([
      { name: 'sweep', every_seconds: 60 },
    ])
  } finally {
    await drop()
  }
})
