import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChild, until } from '../../test/processes.ts'
import { connect } from '../connect.ts'
import { copyIn, copyOut } from '../copy.ts'
import type { MigrationSet } from '../migration-files.ts'
import type { Sql } from '../sql.ts'
import { freshDatabase, type TestDatabase } from '../testing.ts'
import { backUp } from './back-up.ts'
import { restore } from './restore.ts'
import { verifyBackup } from './verify.ts'

const directory = mkdtempSync(join(tmpdir(), 'referrer-backup-'))
const files = ['0001_ledger.sql', '0002_notes.sql']
const LEDGER = `
CREATE SCHEMA ledger;
CREATE TYPE ledger.mood AS ENUM ('good', 'bad');
-- Its name comes before that of the table it refers to.
CREATE TABLE ledger.bookings (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner   bigint NOT NULL,
  before  bigint REFERENCES ledger.bookings,
  amount  numeric(78,0) NOT NULL,
  doubled numeric GENERATED ALWAYS AS (amount * 2) STORED,
  raw     bytea, words text[], extra jsonb, weight float8, at timestamptz NOT NULL DEFAULT now(), of regclass, mood ledger.mood, "order" int
);
CREATE TABLE ledger.owners (id bigint PRIMARY KEY, name text, "Odd Name" text);
ALTER TABLE ledger.bookings ADD FOREIGN KEY (owner) REFERENCES ledger.owners;
CREATE TABLE ledger.counts (name text PRIMARY KEY, count int NOT NULL);
INSERT INTO ledger.counts VALUES ('bookings', 0);
-- Restored before the table whose trigger fills it.
CREATE TABLE ledger.audit (booking bigint);
CREATE FUNCTION ledger.count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO ledger.audit VALUES (NEW.id); UPDATE ledger.counts SET count = count + 1 WHERE name = 'bookings'; RETURN NULL; END $$;
CREATE TRIGGER count AFTER INSERT ON ledger.bookings FOR EACH ROW EXECUTE FUNCTION ledger.count();
`
const NOTES = 'CREATE SCHEMA notes; CREATE TABLE notes.notes (text text);'

/** A version of the program: so many of its files. */
function version(count: number, name = 'ledger'): MigrationSet[] {
  const folder = mkdtempSync(join(directory, 'files-'))
  for (const [at, text] of [LEDGER, NOTES].slice(0, count).entries())
    writeFileSync(join(folder, files[at] ?? ''), text)
  return [{ name, directory: pathToFileURL(folder) }]
}

const sets = version(2)
const databases: TestDatabase[] = []
async function fresh(of: MigrationSet[] = []): Promise<Sql> {
  const database = await freshDatabase(of)
  databases.push(database)
  return database.sql
}

let source: Sql
let sourceUrl: string
let file: string
let names = 0
function newFile(): string {
  names += 1
  return join(directory, `${names}.backup`)
}

beforeAll(async () => {
  const database = await freshDatabase(sets)
  databases.push(database)
  source = database.sql
  sourceUrl = database.url
  await source`INSERT INTO ledger.owners VALUES (1, 'Ada', 'x'), (2, NULL, ${'\\N \t\n\r\\. " \u0001 é 漢'})`
  await source`
    INSERT INTO ledger.bookings (owner, before, amount, raw, words, extra, weight, at, of, mood, "order")
    SELECT 1 + n % 2, CASE WHEN n > 1 THEN n - 1 END, ${10n ** 77n} + n, decode(md5(n::text), 'hex'), ARRAY['a', NULL, '{"'],
      jsonb_build_object('n', n, 'text', repeat('é\n', n % 40)), 0.1::float8 * n, '2026-01-01'::timestamptz + n * interval '1 microsecond',
      'ledger.owners'::regclass, 'good', n
    FROM generate_series(1, 600) AS n`
  await source`INSERT INTO notes.notes VALUES (repeat('long ', 1000000)), ('')`
  await source`DELETE FROM ledger.bookings WHERE id > 590`
  // A row that found room elsewhere: it is read in another order than it was written in.
  await source`UPDATE ledger.bookings SET raw = decode(repeat('ab', 3000), 'hex') WHERE id % 100 = 0`
  file = newFile()
  await backUp(source, file, { sets })
})
afterAll(async () => {
  await Promise.all(databases.map((database) => database.drop()))
  rmSync(directory, { recursive: true })
})

const TABLES = [
  'ledger.owners',
  'ledger.audit',
  'ledger.bookings',
  'ledger.counts',
  'notes.notes',
  'migrations.applied',
]
const rowsOf = (sql: Sql) =>
  Promise.all(TABLES.map((table) => sql.unsafe(`SELECT t::text AS row FROM ${table} t ORDER BY 1`)))
const schemasOf = async (sql: Sql) =>
  (
    await sql`SELECT nspname::text AS name FROM pg_namespace WHERE nspname IN ('ledger', 'notes', 'migrations', 'more')`
  )
    .map(({ name }) => name)
    .sort()

describe('a backup', () => {
  it('is restored to the same rows, and no trigger has run for them', async () => {
    const target = await fresh()
    await restore(target, file, { sets })
    expect(await rowsOf(target)).toEqual(await rowsOf(source))
    expect(await target`SELECT count FROM ledger.counts`).toEqual([{ count: 600 }])
    await target`INSERT INTO ledger.bookings (owner, amount) VALUES (1, 1)`
    expect(await target`SELECT count FROM ledger.counts`).toEqual([{ count: 601 }])
  })

  it('gives no number again that was given after it', async () => {
    const target = await fresh()
    await restore(target, file, { sets })
    const next = (sql: Sql) => sql`INSERT INTO ledger.bookings (owner, amount) VALUES (1, 1) RETURNING id`
    const [[later], [restored]] = [await next(source), await next(target)]
    await source`DELETE FROM ledger.bookings WHERE id = ${later?.id}`
    await source`UPDATE ledger.counts SET count = count - 1`
    await source`DELETE FROM ledger.audit WHERE booking = ${later?.id}`
    expect(later?.id).toBe(601n)
    expect(restored?.id).toBeGreaterThan(1_000_000n)
  })

  it('is one moment of a database that others write to', async () => {
    const moving = await fresh(sets)
    await moving`INSERT INTO ledger.owners VALUES (1, 'Ada')`
    const writer = await moving.reserve()
    const at = newFile()
    let backingUp: Promise<unknown> | undefined
    await writer.begin(async (tx) => {
      // The backup waits for this table, and has not come to the counts yet.
      await tx`LOCK TABLE ledger.bookings IN ACCESS EXCLUSIVE MODE`
      backingUp = backUp(moving, at, { sets })
      const isWaiting = async () =>
        (await tx`SELECT FROM pg_locks WHERE relation = 'ledger.bookings'::regclass AND NOT granted`).length >
        0
      await until(isWaiting)
      await tx`INSERT INTO ledger.bookings (owner, amount) VALUES (1, 1)`
    })
    writer.release()
    await backingUp
    const target = await fresh()
    await restore(target, at, { sets })
    expect(await target`SELECT FROM ledger.bookings`).toHaveLength(0)
    expect(await target`SELECT count FROM ledger.counts`).toEqual([{ count: 0 }])
  })

  it('can be read by its owner alone, and is never overwritten', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const before = readFileSync(file)
    await expect(backUp(source, file, { sets })).rejects.toThrow('is there already: choose another name')
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('is not there when it could not be finished or does not pass its check', async () => {
    const at = newFile()
    const check = () => Promise.reject(new Error('no good'))
    const left = async () => (await readdir(directory)).filter((name) => join(directory, name).startsWith(at))
    await expect(backUp(source, at, { sets, check })).rejects.toThrow('no good')
    expect(await left()).toEqual([])
    await expect(backUp(source, join(directory, 'nowhere', 'a'), { sets })).rejects.toThrow(
      'does not exist: create it',
    )
    writeFileSync(`${at}.partial`, 'of another process')
    await expect(backUp(source, at, { sets })).rejects.toThrow('wait for the backup that writes it')
    expect(await left()).toEqual([`${basename(at)}.partial`])
  })

  it('that finds no room says so, and leaves nothing behind', async () => {
    const at = newFile()
    const child = join(import.meta.dirname, '../../test/children/backup.ts')
    const folder = fileURLToPath(sets[0]?.directory ?? '')
    // Eight blocks for the file; a shell that ignores the signal has programs that get the error.
    const script = `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`
    const args = [script, process.execPath, child, 'backup', sourceUrl, at, folder]
    const { stdout } = await promisify(execFile)('sh', ['-c', ...args])
    expect(stdout).toBe(`There is no room for ${at}: free some, or write the backup to another disk.\n`)
    expect((await readdir(directory)).filter((name) => join(directory, name).startsWith(at))).toEqual([])
  })

  it('that is given up in the middle of a table leaves a connection that can be used', async () => {
    const sql = await fresh()
    await sql.unsafe(
      `CREATE TABLE long AS SELECT repeat(md5(n::text), 32) AS text FROM generate_series(1, 20000) n`,
    )
    const answer = await sql.begin(async (tx) => {
      for await (const row of copyOut(tx, { table: 'long', columns: ['text'] })) if (row.length > 0) break
      return tx`SELECT 1 AS one`
    })
    expect(answer).toEqual([{ one: 1 }])
  })

  it.each([800, 1_200])(
    'that is given up when all %i rows have come but are not read ends at once',
    async (rows) => {
      const sql = await fresh()
      await sql.unsafe(
        `CREATE TABLE short AS SELECT repeat(md5(n::text), 2) AS text FROM generate_series(1, ${rows}) n`,
      )
      const answer = await sql.begin(async (tx) => {
        for await (const _ of copyOut(tx, { table: 'short', columns: ['text'] })) {
          // Another connection has answered meanwhile: the rest has come, too.
          for (let count = 0; count < 5; count++) await sql`SELECT 1`
          break
        }
        return tx`SELECT 1 AS one`
      })
      expect(answer).toEqual([{ one: 1 }])
    },
  )

  it('that is given up as its connection breaks ends too', async () => {
    const sql = await fresh()
    await sql.unsafe(
      `CREATE TABLE long AS SELECT repeat(md5(n::text), 32) AS text FROM generate_series(1, 200000) n`,
    )
    const copying = sql.begin(async (tx) => {
      const [backend] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
      for await (const row of copyOut(tx, { table: 'long', columns: ['text'] })) {
        if (row.length === 0) continue
        await sql`SELECT pg_terminate_backend(${backend?.pid ?? 0})`
        break
      }
    })
    await expect(copying).rejects.toThrow()
  })

  it('of a database without our tables, or with those of another version, is refused', async () => {
    await expect(backUp(await fresh(), newFile(), { sets })).rejects.toThrow('there is nothing to back up')
    await expect(backUp(source, newFile(), { sets: version(1) })).rejects.toThrow(
      'migrated by another version of the program (ledger/0002_notes.sql)',
    )
  })

  it('is verified by restoring it, on a server that is gone afterwards', async () => {
    const before = (await readdir(tmpdir())).filter((name) => name.startsWith('referrer-verify-'))
    const { manifest } = await verifyBackup(file, { sets })
    expect(manifest.tables.find(({ table }) => table === 'ledger.bookings')?.rows).toBe(590)
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('referrer-verify-'))).toEqual(before)
  })
})

describe('restoring', () => {
  it('that is killed after loading leaves the database as empty as it was', async () => {
    const database = await freshDatabase()
    databases.push(database)
    const { sql, url } = database
    // The restoring transaction comes to this once it has loaded the tables, and waits.
    await sql.unsafe(`
      CREATE FUNCTION wait() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        IF to_regclass('ledger.owners') IS NOT NULL THEN
          IF EXISTS (SELECT FROM ledger.owners) THEN PERFORM pg_advisory_xact_lock(1); END IF;
        END IF;
      END $$;
      CREATE EVENT TRIGGER wait ON ddl_command_end WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION public.wait()`)
    const holder = await sql.reserve()
    await holder`SELECT pg_advisory_lock(1)`
    const child = startChild('backup.ts', ['restore', url, file, fileURLToPath(sets[0]?.directory ?? '')])
    expect(await child.line()).toBe('checking')
    const others = () => sql`
      SELECT wait_event FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'child'`
    await until(async () => (await others()).some(({ wait_event }) => wait_event === 'advisory'))
    await child.kill()
    await holder`SELECT pg_advisory_unlock(1)`
    holder.release()
    await until(async () => (await others()).length === 0)
    expect(await schemasOf(sql)).toEqual([])
    await restore(sql, file, { sets })
    expect(await rowsOf(sql)).toEqual(await rowsOf(source))
  })

  it('refuses a file that is damaged anywhere, and writes nothing', async () => {
    const target = await fresh()
    const whole = readFileSync(file)
    const places = [20, Math.floor(whole.length / 3), Math.floor(whole.length / 2), whole.length - 3]
    for (const place of places) {
      const at = newFile()
      const bytes = Buffer.from(whole)
      bytes.writeUInt8((bytes.readUInt8(place) + 1) % 256, place)
      writeFileSync(at, bytes)
      await expect(restore(target, at, { sets })).rejects.toThrow('is damaged or was cut')
    }
    const longer = newFile()
    writeFileSync(longer, Buffer.concat([whole, whole.subarray(18)]))
    await expect(restore(target, longer, { sets })).rejects.toThrow('is damaged or was cut')
    expect(await schemasOf(target)).toEqual([])
  })

  it('refuses a file that was cut, and one that is none', async () => {
    const target = await fresh()
    const whole = readFileSync(file)
    for (const length of [18, 40, Math.floor(whole.length / 2), whole.length - 32, whole.length - 1]) {
      const at = newFile()
      writeFileSync(at, whole)
      truncateSync(at, length)
      await expect(restore(target, at, { sets })).rejects.toThrow('is damaged or was cut')
    }
    const other = newFile()
    writeFileSync(other, 'referrer backup 2\n')
    await expect(restore(target, other, { sets })).rejects.toThrow('has format 2')
    writeFileSync(other, 'something else')
    await expect(restore(target, other, { sets })).rejects.toThrow('is not a backup of Referrer')
    await expect(restore(target, `${other}.gone`, { sets })).rejects.toThrow('cannot be read (ENOENT)')
    expect(await schemasOf(target)).toEqual([])
  })

  it('refuses a backup of a newer version, and brings one of an older up to date', async () => {
    const target = await fresh()
    await expect(restore(target, file, { sets: version(1) })).rejects.toThrow(
      'which has ledger/0002_notes.sql',
    )
    const older = newFile()
    const old = await fresh(version(1))
    await old`INSERT INTO ledger.owners VALUES (7)`
    await backUp(old, older, { sets })
    await restore(target, older, { sets })
    expect(await target`SELECT id FROM ledger.owners`).toEqual([{ id: 7n }])
    expect(await target`SELECT number FROM migrations.applied ORDER BY 1`).toEqual([
      { number: 1 },
      { number: 2 },
    ])
    expect(await target`SELECT FROM notes.notes`).toEqual([])
  })

  it('leaves a database alone that has our tables, unless its name is given', async () => {
    const database = await freshDatabase(sets)
    databases.push(database)
    await database.sql`INSERT INTO ledger.owners VALUES (7)`
    const [row] = await database.sql`SELECT current_database() AS name`
    await expect(restore(database.sql, file, { sets })).rejects.toThrow(`with --replace ${row?.name}`)
    await expect(restore(database.sql, file, { sets, replace: 'another' })).rejects.toThrow(
      'has tables of ours',
    )
    expect(await database.sql`SELECT id FROM ledger.owners`).toEqual([{ id: 7n }])
    // This is a pool of several connections that are called "referrer tests".
    const session = await database.sql.reserve()
    await session`SELECT 1`
    await expect(restore(database.sql, file, { sets, replace: row?.name })).rejects.toThrow(
      'is in use (referrer tests): stop these programs',
    )
    session.release()
  })

  it('replaces all tables or none', async () => {
    const database = await freshDatabase(sets)
    databases.push(database)
    const [row] = await database.sql`SELECT current_database() AS name`
    await database.sql`INSERT INTO ledger.owners VALUES (7)`
    await database.sql.end()
    const sql = connect(database.url, { max: 1, name: 'referrer restore' })
    try {
      const failing = restore(sql, file, {
        sets,
        replace: row?.name,
        onProgress: (table) => {
          if (table === 'notes.notes') throw new Error('stopped in the middle')
        },
      })
      await expect(failing).rejects.toThrow('stopped in the middle')
      expect(await sql`SELECT id FROM ledger.owners`).toEqual([{ id: 7n }])
      await restore(sql, file, { sets, replace: row?.name })
      expect(await rowsOf(sql)).toEqual(await rowsOf(source))
    } finally {
      await sql.end()
    }
  })

  it('tells of a row that a table does not take, though the error comes after the last byte', async () => {
    const sql = await fresh(sets)
    await sql`ALTER TABLE notes.notes ADD CHECK (text <> '')`
    const rows = async function* () {
      yield Buffer.from('fine\n\n')
    }
    const copying = sql.begin((tx) => copyIn(tx, { table: 'notes.notes', columns: ['text'] }, rows()))
    await expect(copying).rejects.toThrow('violates check constraint')
    expect(await sql`SELECT text FROM notes.notes`).toEqual([])
  })
})
