import { randomBytes } from 'node:crypto'
import { access, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBinaries, lastLine } from './binaries.ts'
import { socketUrl } from './connect.ts'
import { codeOf, DatabaseError } from './errors.ts'
import { type Hold, tryHold } from './hold.ts'
import { diskFull, type Home, openHome } from './home.ts'
import { type Launch, launch, removeStaleLock, shutDown } from './postmaster.ts'
import { run } from './run.ts'

export interface PostgresServer {
  url: string
  /** Leaves the server; whoever leaves it last shuts it down. */
  stop(): Promise<void>
}

export interface StartOptions {
  /** Holds all of the server: made when missing, else empty or of an earlier start. */
  directory: string
  /** Settings of postgresql.conf beside or instead of ours. */
  settings?: Record<string, string>
  /** The `native` folder of another build of the server. */
  native?: string
  onProgress?: (line: string) => void
}

const USER = 'referrer'
/** A crashed server may have to replay its log first. */
const PATIENCE_MS = 300_000

/** Starts the server of a directory or joins the one that runs there already, whoever started it. */
export async function startPostgres({
  directory,
  settings = {},
  native,
  onProgress = () => {},
}: StartOptions): Promise<PostgresServer> {
  const home = await openHome(directory)
  const url = socketUrl(home.socketDirectory, USER, 'postgres')
  const hold = await joinOrLaunch(home, url, { settings, native, onProgress })
  return {
    url,
    async stop() {
      if (await hold.leave()) await shutDown(home)
      await hold.close()
    },
  }
}

interface LaunchOptions {
  settings: Record<string, string>
  native: string | undefined
  onProgress: (line: string) => void
}

async function joinOrLaunch(home: Home, url: string, options: LaunchOptions): Promise<Hold> {
  let launched: Launch | undefined
  const deadline = Date.now() + PATIENCE_MS
  while (Date.now() < deadline) {
    const hold = await tryHold(url)
    if (hold !== 'absent' && hold !== 'not ready') return hold
    if (hold === 'absent' && launched === undefined) launched = await prepareAndLaunch(home, options)
    const said = await Promise.race([launched?.ended, sleep(30)])
    if (typeof said === 'string') {
      launched = undefined
      await overcome(said, home)
    }
  }
  throw new DatabaseError(
    `Postgres in ${home.directory} does not answer: read ${home.log}, end its process and start again.`,
  )
}

async function prepareAndLaunch(
  home: Home,
  { settings, native, onProgress }: LaunchOptions,
): Promise<Launch> {
  const binaries = await findBinaries(home, onProgress, native)
  if (!(await exists(home.data))) {
    onProgress(`creating a database in ${home.directory}`)
    await initialise(binaries.initdb, home)
  }
  onProgress('starting Postgres')
  return launch(binaries.postgres, home, settings)
}

/** Made beside its final name and renamed: a crash leaves no half database, and of two starters one wins. */
async function initialise(initdb: string, home: Home): Promise<void> {
  const draft = `${home.data}.${randomBytes(6).toString('hex')}.new`
  try {
    const outcome = await run(
      initdb,
      [
        ...['-D', draft, '-U', USER, '--encoding=UTF8', '--locale=C'],
        ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        // Only its user can enter the socket's directory, so the socket needs no password.
        ...['--auth-local=trust', '--auth-host=reject', '--no-instructions'],
      ],
      { cwd: home.directory, runner: home.runner },
    )
    if (!outcome.ok) throw failure(outcome.said, home)
    await rename(draft, home.data)
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Returns when another try is worth it: somebody else was first, or a dead server's remains are in the way. */
async function overcome(said: string, home: Home): Promise<void> {
  if (/lock file .* already exists/.test(said)) await removeStaleLock(home)
  else if (!/pre-existing shared memory block/.test(said)) throw failure(said, home)
  await sleep(100)
}

function failure(said: string, home: Home): DatabaseError {
  if (/No space left on device|Disk quota exceeded/.test(said)) return diskFull(home.directory)
  if (/could not look up effective user ID/.test(said)) {
    return new DatabaseError(
      `The user who runs this has no name in /etc/passwd, which Postgres needs to create a database: add one, or set DATABASE_URL.`,
    )
  }
  const line = said.split('\n').find((text) => /FATAL|PANIC|error:/.test(text)) ?? lastLine(said)
  return new DatabaseError(
    `Postgres in ${home.directory} did not start (${line.trim()}): see ${join(home.log)}.`,
  )
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
