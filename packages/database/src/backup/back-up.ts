import { type Columns, copyOut } from '../copy.ts'
import { DatabaseError } from '../errors.ts'
import { type Migration, type MigrationSet, readMigrations } from '../migration-files.ts'
import type { Queryable, Sql, Transaction } from '../sql.ts'
import { readSequences, readTables, schemasOf } from './catalogue.ts'
import { Digest } from './digest.ts'
import type { Contents } from './read-file.ts'
import type { Header, Manifest } from './sections.ts'
import { type BackupWriter, writeFile } from './write-file.ts'

/** Told of every piece of a table, with what has been done of the table so far. */
export type OnProgress = (table: string, done: { rows: number; bytes: number }) => void

export interface BackUpOptions {
  /** All sets that the program knows; the file holds the tables of those that the database has. */
  sets: MigrationSet[]
  onProgress?: OnProgress
  /** Looks at the file before it gets its name. */
  check?: (draft: string, contents: Contents) => Promise<void>
}

/** Rows are gathered to this much before they are packed, and a longer one is cut. */
const PIECE = 65_536
const LONGEST_PIECE = 1_048_576

/**
 * Writes all tables of our schemas to a file, as they are in one moment, while others go on writing. Nothing of the file is there under its
 * name before it is complete.
 */
export async function backUp(sql: Sql, path: string, options: BackUpOptions): Promise<Contents> {
  const { sets, onProgress = () => {}, check = async () => {} } = options
  const known = (await Promise.all(sets.map(readMigrations))).flat()
  let contents: Contents | undefined
  const fill = (file: BackupWriter) =>
    sql.begin('isolation level repeatable read read only', async (tx) => {
      await prepareCopies(tx)
      const header = await readHeader(tx, known)
      await file.write({ kind: 'header', header })
      const schemas = schemasOf(known.filter(({ set }) => header.migrations.some((one) => one.set === set)))
      const manifest: Manifest = { tables: [], sequences: [] }
      for (const columns of await readTables(tx, schemas)) {
        await file.write({ kind: 'table', columns })
        const digest = new Digest()
        for await (const rows of pieces(copyOut(tx, columns))) {
          digest.update(rows)
          await file.write({ kind: 'rows', rows })
          onProgress(columns.table, digest.sum)
        }
        manifest.tables.push({ table: columns.table, ...digest.sum })
      }
      // Read last: no row of the snapshot has a number that they have not given.
      manifest.sequences = await readSequences(tx, schemas)
      await file.write({ kind: 'manifest', manifest })
      contents = { header, manifest }
    })
  await writeFile(path, fill, async (draft) => {
    if (contents) await check(draft, contents)
  })
  return contents as unknown as Contents
}

/** Every server writes and reads values alike, and no table takes too long. */
export async function prepareCopies(tx: Transaction): Promise<void> {
  await tx.unsafe(`
    set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
    set local search_path = ''; set local datestyle = iso; set local intervalstyle = iso_8601; set local timezone = utc;
    set local bytea_output = hex; set local extra_float_digits = 1; set local client_encoding = utf8`)
}

async function readHeader(tx: Transaction, known: Migration[]): Promise<Header> {
  const migrations = await readApplied(tx)
  if (migrations.length === 0) {
    throw new DatabaseError('This database holds no tables of ours: there is nothing to back up.')
  }
  const foreign = migrations.find((one) => !known.some((own) => isSameFile(own, one)))
  if (foreign) {
    throw new DatabaseError(
      `This database was migrated by another version of the program (${foreign.name}): back it up with that version.`,
    )
  }
  const [server] = await tx<{ version: string }[]>`select current_setting('server_version') as version`
  return { takenAt: new Date().toISOString(), postgres: server?.version ?? '', migrations }
}

export async function readApplied(sql: Queryable): Promise<Header['migrations']> {
  const [table] = await sql<{ found: string | null }[]>`select to_regclass('migrations.applied') as found`
  if (!table?.found) return []
  return sql<Header['migrations']>`
    select set_name as set, number, name, sha256 from migrations.applied order by set_name, number`
}

export const isSameFile = (own: Migration, { set, number, sha256 }: Header['migrations'][number]) =>
  own.set === set && own.number === number && own.sha256 === sha256

/** Postgres sends each row by itself. */
async function* pieces(rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = []
  let length = 0
  for await (const row of rows) {
    waiting.push(row)
    length += row.length
    if (length < PIECE) continue
    yield* cut(Buffer.concat(waiting))
    waiting = []
    length = 0
  }
  if (length > 0) yield* cut(Buffer.concat(waiting))
}

function* cut(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += LONGEST_PIECE) yield bytes.subarray(at, at + LONGEST_PIECE)
}

/** The sums of the tables as they are now. */
export async function readSums(
  tx: Transaction,
  tables: readonly Columns[],
  onProgress: OnProgress,
): Promise<Manifest['tables']> {
  const sums: Manifest['tables'] = []
  for (const columns of tables) {
    const digest = new Digest()
    for await (const rows of pieces(copyOut(tx, columns))) {
      digest.update(rows)
      onProgress(columns.table, digest.sum)
    }
    sums.push({ table: columns.table, ...digest.sum })
  }
  return sums
}
