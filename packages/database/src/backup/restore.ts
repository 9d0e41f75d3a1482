import postgres from 'postgres'
import { prepareRecord } from '../applied.ts'
import { type Columns, copyIn } from '../copy.ts'
import { DatabaseError } from '../errors.ts'
import { migrate, takeTurn } from '../migrate.ts'
import { type Migration, type MigrationSet, readMigrations } from '../migration-files.ts'
import type { Sql, Transaction } from '../sql.ts'
import { isSameFile, type OnProgress, prepareCopies, readSums } from './back-up.ts'
import { readSequences, readTables, schemasOf } from './catalogue.ts'
import { countRows, isSame } from './digest.ts'
import { type Contents, checkFile, readSections } from './read-file.ts'
import type { Header, Section } from './sections.ts'

export interface RestoreOptions {
  /** All sets that the program knows. */
  sets: MigrationSet[]
  /** Those that the backup must have, if any. */
  expected?: MigrationSet[]
  /** The name of the database, from an operator who wants its tables replaced; left out: it must be empty. */
  replace?: string
  onProgress?: OnProgress
  /** Told of each step as it begins. */
  onStep?: (step: 'checking' | 'loading' | 'comparing' | 'migrating') => void
}

/** The lead that new numbers get over those of the backup: what the market gave out after it must not be given again. */
const LEAD = 1_000_000n
const LOCK_TIMEOUT = '55P03'

/**
 * Restores a backup in one transaction: whatever ends it early leaves the database as it was. Nothing is committed before all tables have been
 * read back. A backup of an earlier version is migrated afterwards.
 */
export async function restore(sql: Sql, path: string, options: RestoreOptions): Promise<Contents> {
  const { sets, onProgress = () => {}, onStep = () => {} } = options
  const known = (await Promise.all(sets.map(readMigrations))).flat()
  onStep('checking')
  const contents = await checkFile(path)
  requireSets(path, contents.header, options.expected ?? [])
  const files = filesOf(contents.header, known)
  const schemas = schemasOf(files)
  await sql
    .begin(async (tx) => {
      await takeTurn(tx)
      await makeRoom(tx, schemas, options.replace)
      await prepareRecord(tx)
      for (const { text } of files) await tx.unsafe(text)
      await prepareCopies(tx)
      onStep('loading')
      const tables = await readTables(tx, schemas)
      const loaded = await load(tx, path, tables, onProgress)
      await setSequences(tx, contents)
      onStep('comparing')
      await compare(tx, schemas, loaded, contents, onProgress)
      await leadSequences(tx, contents)
      for (const { table } of tables) await tx.unsafe(`analyze ${table}`)
    })
    .catch((error: unknown) => {
      throw explain(error)
    })
  onStep('migrating')
  await migrate(
    sql,
    sets.filter(({ name }) => files.some(({ set }) => set === name)),
  )
  return contents
}

function requireSets(path: string, { migrations }: Header, expected: MigrationSet[]): void {
  const has = new Set(migrations.map(({ set }) => set))
  if (expected.every(({ name }) => has.has(name))) return
  throw new DatabaseError(
    `The backup ${path} is of another database (${[...has].join(', ')}): restore it with the --roles that it was taken with.`,
  )
}

/** The migrations that made the database of the backup, in the order of the sets. */
function filesOf({ migrations }: Header, known: Migration[]): Migration[] {
  const strange = migrations.find((one) => !known.some((own) => isSameFile(own, one)))
  if (strange) {
    throw new DatabaseError(
      `The backup is of another version of the program, which has ${strange.name}: restore it with that version or a newer one.`,
    )
  }
  return known.filter((own) => migrations.some((one) => isSameFile(own, one)))
}

async function makeRoom(tx: Transaction, schemas: string[], replace: string | undefined): Promise<void> {
  const [row] = await tx<{ database: string; found: string[]; others: string[] }[]>`
    select current_database() as database,
      array(select nspname::text from pg_namespace where nspname = any(${schemas})) as found,
      array(
        select distinct application_name from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name like 'referrer %'
          and application_name <> 'referrer hold') as others`
  const { database = '', found = [], others = [] } = row ?? {}
  if (found.length === 0) return
  if (replace !== database) {
    throw new DatabaseError(
      `The database ${database} has tables of ours already: name an empty one, or replace them with --replace ${database}.`,
    )
  }
  if (others.length > 0) {
    throw new DatabaseError(
      `The database ${database} is in use (${others.join(', ')}): stop these programs, then restore again.`,
    )
  }
  await tx.unsafe(`set local lock_timeout = '10s'`)
  for (const schema of found) await tx`drop schema ${tx(schema)} cascade`
  // Discovery derives its own schema from our tables, and fills it again.
  const [search] = await tx`
    select from pg_namespace where nspname = 'search' and obj_description(oid, 'pg_namespace') like 'referrer %'`
  if (search) await tx.unsafe('drop schema search cascade')
}

/** Returns what it has loaded: the table of the migrations may have got columns since. */
async function load(
  tx: Transaction,
  path: string,
  tables: Columns[],
  onProgress: OnProgress,
): Promise<Columns[]> {
  // Migrations have written rows too; and what triggers derive is in the backup.
  const names = tables.map(({ table }) => table)
  await tx.unsafe(`truncate ${names.join(', ')}`)
  for (const table of names) await tx.unsafe(`alter table ${table} disable trigger user`)
  const sections = readSections(path)
  let next = await sections.next()
  const take = async () => {
    const { value } = next
    next = await sections.next()
    return value as Section
  }
  async function* rowsOf(table: string): AsyncGenerator<Buffer> {
    const done = { rows: 0, bytes: 0 }
    while (!next.done && next.value.kind === 'rows') {
      const section = await take()
      if (section.kind !== 'rows') return
      done.rows += countRows(section.rows)
      done.bytes += section.rows.length
      onProgress(table, done)
      yield section.rows
    }
  }
  const loaded: Columns[] = []
  while (!next.done) {
    const section = await take()
    if (section.kind !== 'table') continue
    await copyIn(tx, section.columns, rowsOf(section.columns.table))
    loaded.push(section.columns)
  }
  for (const table of names) await tx.unsafe(`alter table ${table} enable trigger user`)
  return loaded
}

async function setSequences(tx: Transaction, { manifest }: Contents): Promise<void> {
  for (const { name, lastValue, isCalled } of manifest.sequences) {
    await tx`select setval(${name}::text::regclass, ${BigInt(lastValue)}, ${isCalled})`
  }
}

async function leadSequences(tx: Transaction, { manifest }: Contents): Promise<void> {
  for (const { name, lastValue, isCalled } of manifest.sequences) {
    if (isCalled) await tx`select setval(${name}::text::regclass, ${BigInt(lastValue) + LEAD})`
  }
}

async function compare(
  tx: Transaction,
  schemas: string[],
  tables: Columns[],
  { manifest }: Contents,
  onProgress: OnProgress,
): Promise<void> {
  const found = await readSums(tx, tables, onProgress)
  const wrong = manifest.tables.filter((told) => {
    const same = found.find(({ table }) => table === told.table)
    return !same || !isSame(same, told)
  })
  const isAll =
    found.length === manifest.tables.length &&
    JSON.stringify(await readSequences(tx, schemas)) === JSON.stringify(manifest.sequences)
  if (wrong.length === 0 && isAll) return
  throw new DatabaseError(
    `What was restored differs from the backup (${wrong.map(({ table }) => table).join(', ') || 'other tables or sequences'}): nothing was kept; report this.`,
  )
}

function explain(error: unknown): unknown {
  if (!(error instanceof postgres.PostgresError)) return error
  const advice =
    error.code === LOCK_TIMEOUT
      ? 'end the connections that other programs have to it, and restore again'
      : 'mend that and restore again'
  return new DatabaseError(
    `The backup could not be restored (${error.message}), and the database is as it was before: ${advice}.`,
    { cause: error },
  )
}
