import { fileURLToPath } from 'node:url'
import { freshDatabase } from '@referrer/database/testing'
import { describe, expect, it } from 'vitest'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { BY_VALUE, COLUMNS, CONSTANT, OWNERS, QUEUES, TRIGGERS } from './owners.ts'
import { sourceWrites, type Write, writesIn } from './writes.ts'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))
const ownerOf = new Map(
  Object.entries(OWNERS).flatMap(([folder, tables]) => tables.map((table) => [table, folder] as const)),
)
const folderOf = (file: string) => file.split('/').slice(0, 2).join('/')

/** The error in a write; undefined: there is none. */
function complaint({ by, verb, table, columns }: Write): string | undefined {
  if (table === undefined) return by in BY_VALUE ? undefined : `${by}: ${verb} of a table that is a value`
  const folder = folderOf(by)
  if (ownerOf.get(table) === folder) return undefined
  if (verb === 'INSERT INTO' && QUEUES[table]?.includes(folder)) return undefined
  const allowed = COLUMNS[folder] ?? []
  if (columns.length > 0 && columns.every((column) => allowed.includes(`${table}.${column}`)))
    return undefined
  return `${by}: ${verb} ${[table, ...columns].join(' ')}, which is ${ownerOf.get(table) ?? 'nobody'}'s`
}

describe('every table', () => {
  it('is written by the folder that owns it and by nobody else', () => {
    expect(sourceWrites(SRC).flatMap((write) => complaint(write) ?? [])).toEqual([])
  })

  it('is written by its owner at all, and so is every column and queue that the list grants to others', () => {
    const writes = sourceWrites(SRC).map((write) => ({ ...write, folder: folderOf(write.by) }))
    const idle = [
      ...[...ownerOf].filter(
        ([table, owner]) => !writes.some(({ folder, ...write }) => write.table === table && folder === owner),
      ),
      ...Object.entries(COLUMNS).flatMap(([owner, columns]) =>
        columns.filter(
          (column) =>
            !writes.some(
              ({ folder, table, columns: set }) =>
                folder === owner && set.some((each) => `${table}.${each}` === column),
            ),
        ),
      ),
      ...Object.entries(QUEUES).flatMap(([queue, folders]) =>
        folders.filter((owner) => !writes.some(({ folder, table }) => folder === owner && table === queue)),
      ),
      ...Object.keys(BY_VALUE).filter(
        (file) => !writes.some(({ by, table }) => by === file && table === undefined),
      ),
    ]
    expect(idle).toEqual([])
  })

  it('of the database has an owner or is kept by triggers, and triggers write what the list says', async () => {
    const { sql, drop } = await freshDatabase(migrations)
    try {
      const tables = await sql<{ name: string }[]>`
        SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
        WHERE table_schema IN ('chain', 'market', 'jobs')`
      const known = new Set([...ownerOf.keys(), ...Object.keys(TRIGGERS), ...CONSTANT])
      expect(tables.map(({ name }) => name).sort()).toEqual([...known].sort())
      const functions = await sql<{ name: string; body: string }[]>`
        SELECT format('%I.%I', nspname, proname) AS name, prosrc AS body
        FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE nspname IN ('chain', 'market', 'jobs')`
      const written = functions.flatMap(({ name, body }) =>
        writesIn(name, body).map(({ by, table }) => `${table} by ${by}`),
      )
      const listed = Object.entries(TRIGGERS).flatMap(([table, names]) =>
        names.map((name) => `${table} by ${name}`),
      )
      expect([...new Set(written)].sort()).toEqual(listed.sort())
    } finally {
      await drop()
    }
  })
})

describe('a stray write is found', () => {
  it.each([
    ['market/votes/store.ts', 'await tx`INSERT INTO market.reviews (chain_id) VALUES (1)`'],
    ['market/votes/store.ts', 'await tx`\n  UPDATE\n    market.reviews AS m SET content = NULL WHERE true`'],
    ['market/votes/store.ts', 'await tx`WITH gone AS (DELETE FROM market.reviews RETURNING *) SELECT 1`'],
    ['app/commands/x.ts', 'await tx`TRUNCATE market.votes`'],
    ['market/votes/store.ts', 'await tx`TRUNCATE market.votes, market.ballots, market.reviews`'],
    [
      'market/votes/store.ts',
      'await tx`MERGE INTO market.reviews AS m USING x ON true WHEN MATCHED THEN DELETE`',
    ],
    ['market/votes/store.ts', "await tx.unsafe('COPY market.reviews FROM STDIN').writable()"],
    ['market/votes/store.ts', `await tx\`UPDATE \${tx(name)} SET a = 1\``],
    ['market/votes/mirror.ts', "const reviews: Table = {\n  name: 'chain.reviews',\n  key: {} }"],
    // Updates columns of its own and one that is not.
    [
      'derived/opinions/store.ts',
      `await tx\`UPDATE market.products SET rank = (SELECT 1 FROM y WHERE \${a}), name = \${b} FROM x\``,
    ],
    [
      'market/votes/x.ts',
      'WITH a AS (INSERT INTO market.votes VALUES (1)), b AS (INSERT INTO market.reviews VALUES (1)) SELECT',
    ],
    // A queue is only inserted into.
    ['derived/ranks/seen.ts', 'await tx`DELETE FROM market.pending_changes`'],
    // A table that triggers keep.
    ['market/reviews/store.ts', 'await tx`INSERT INTO market.counts VALUES (1)`'],
  ])('%s: %s', (file, text) => {
    expect(writesIn(file, text).flatMap((write) => complaint(write) ?? [])).toHaveLength(1)
  })
})
