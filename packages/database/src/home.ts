import { createHash } from 'node:crypto'
import { chmod, chown, lstat, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { codeOf, DatabaseError, messageOf } from './errors.ts'
import { chooseRunner, firstClosedDirectory, type Runner } from './runner.ts'

export const MAJOR = '18'

/** Longest path of a unix socket, without the closing zero. */
const SOCKET_PATH_LIMIT = 107
const SOCKET_NAME = '.s.PGSQL.5432'
const OURS = /^(data(\..+)?|server-.+|socket|postgres\.log(\.old)?)$/

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
  try {
    await mkdir(wanted, { recursive: true })
    const directory = await realpath(wanted)
    await refuseForeign(directory)
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
  } catch (error) {
    throw explain(error, wanted)
  }
}

async function refuseForeign(directory: string): Promise<void> {
  const names = await readdir(directory)
  if (names.includes('data')) return
  const foreign = names.find((name) => !OURS.test(name) && name !== 'lost+found')
  if (foreign === undefined) return
  throw new DatabaseError(
    `${directory} holds other files (${foreign}): choose an empty directory for the database.`,
  )
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
  if (runner) await chown(path, runner.uid, runner.gid)
  const { uid, mode } = await lstat(path)
  const expected = runner?.uid ?? process.getuid?.()
  if (uid === expected && (await stat(path)).isDirectory() && (mode & 0o077) === 0) return path
  throw new DatabaseError(`${path} is open to other users of this machine: remove it and start again.`)
}

function explain(error: unknown, directory: string): unknown {
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
      return error instanceof DatabaseError ? error : new DatabaseError(messageOf(error))
  }
}

export function diskFull(directory: string): DatabaseError {
  return new DatabaseError(
    `The disk that holds ${directory} is full: free some space (200 MB at least) and start again.`,
  )
}
