import { createHash } from 'node:crypto'
import { chmod, chown, lchown, lstat, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { codeOf, DatabaseError, lastLine, messageOf } from './errors.ts'
import { chooseRunner, firstClosedDirectory, type Runner } from './runner.ts'

export const MAJOR = '18'

/** Longest path of a unix socket, without the closing zero. */
const SOCKET_PATH_LIMIT = 107
export const SOCKET_NAME = '.s.PGSQL.5432'
const MARK = 'referrer-database.txt'
const MARK_TEXT =
  'An embedded Postgres keeps its data here. Stop the program before you move or copy this directory.\n'

/** Where an embedded server lives, all of it in one directory of the user's choice. */
export interface Home {
  directory: string
  /** Postgres's own data directory. */
  data: string
  socketDirectory: string
  log: string
  /** Marks every process of this server in its command line, which everybody may read. */
  cluster: string
  runner: Runner | undefined
}

export async function openHome(chosen: string): Promise<Home> {
  const wanted = resolve(chosen)
  const runner = await chooseRunner(join(wanted, 'data'))
  await mkdir(wanted, { recursive: true })
  const directory = await realpath(wanted)
  await claim(directory)
  if (runner) await handOver(directory, runner)
  await chmod(directory, 0o700)
  const data = join(directory, 'data')
  await refuseOtherMajor(data)
  const id = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  const socketDirectory = await openSocketDirectory(directory, id, runner)
  return {
    directory,
    data,
    socketDirectory,
    log: join(directory, 'postgres.log'),
    cluster: `referrer-${id}`,
    runner,
  }
}

/** A directory that is not empty and does not carry our mark is somebody else's. */
async function claim(directory: string): Promise<void> {
  const names = await readdir(directory)
  if (names.includes(MARK)) return
  const foreign = names.find((name) => name !== 'lost+found')
  if (foreign !== undefined) {
    throw new DatabaseError(
      `${directory} holds other files (${foreign}): choose an empty directory for the database.`,
    )
  }
  await writeFile(join(directory, MARK), MARK_TEXT, { flag: 'wx' }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
}

async function handOver(directory: string, runner: Runner): Promise<void> {
  const closed = await firstClosedDirectory(directory, runner)
  if (closed !== undefined) {
    throw new DatabaseError(
      `Postgres does not run as root, and user id ${runner.uid}, who runs it instead, may not enter ${closed}: choose a database directory outside of it, or run chmod o+x ${closed}.`,
    )
  }
  await chown(directory, runner.uid, runner.gid)
}

async function refuseOtherMajor(data: string): Promise<void> {
  const version = await readFile(join(data, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
  if (version === undefined || version.trim() === MAJOR) return
  throw new DatabaseError(
    `${data} was written by PostgreSQL ${version.trim()} and this program brings PostgreSQL ${MAJOR}: move it over with pg_dump and pg_restore, or choose an empty directory.`,
  )
}

async function openSocketDirectory(
  directory: string,
  id: string,
  runner: Runner | undefined,
): Promise<string> {
  const inside = join(directory, 'socket')
  const fits = Buffer.byteLength(join(inside, SOCKET_NAME)) <= SOCKET_PATH_LIMIT
  const path = fits ? inside : join(tmpdir(), `referrer-${id}`)
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  if (runner && (await lstat(path)).uid === 0) await lchown(path, runner.uid, runner.gid)
  const found = await lstat(path)
  const owner = runner?.uid ?? process.getuid?.()
  if (found.isDirectory() && found.uid === owner && (found.mode & 0o077) === 0) return path
  throw new DatabaseError(`${path} does not belong to Postgres's user alone: remove it and start again.`)
}

/** What went wrong on disk, as one line for the user who chose the directory. */
export function explain(error: unknown, directory: string): unknown {
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new DatabaseError(
        `The database directory ${directory} cannot be written: run as the user who owns it, or choose another directory.`,
      )
    case 'ENOTDIR':
    case 'EEXIST':
      return new DatabaseError(`${directory} is not a directory: choose another one for the database.`)
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(directory)
    default:
      return error instanceof DatabaseError ? error : new DatabaseError(messageOf(error), { cause: error })
  }
}

/** What initdb or the server said when it failed, likewise. */
export function startFailure(said: string, home: Home): DatabaseError {
  if (/No space left on device|Disk quota exceeded/.test(said)) return diskFull(home.directory)
  if (/could not look up effective user ID/.test(said)) {
    return new DatabaseError(
      'The user who runs this has no name in /etc/passwd, and Postgres needs one to create a database: add it, or set DATABASE_URL.',
    )
  }
  const line = said.split('\n').find((text) => /FATAL|PANIC|error:/.test(text)) ?? lastLine(said)
  return new DatabaseError(
    `Postgres in ${home.directory} did not start (${line.trim()}): mend that, or look into ${home.log}, and start again.`,
  )
}

function diskFull(directory: string): DatabaseError {
  return new DatabaseError(
    `The disk that holds ${directory} is full: free some space (200 MB at least) and start again.`,
  )
}
