import { setTimeout as sleep } from 'node:timers/promises'
import { socketUrl } from './address.ts'
import { findBinaries } from './binaries.ts'
import { createCluster } from './cluster.ts'
import { DatabaseError, messageOf } from './errors.ts'
import { type Hold, tryHold } from './hold.ts'
import { explain, type Home, openHome, startFailure } from './home.ts'
import { type Launch, launch, removeStaleLocks, shutDown } from './postmaster.ts'

export interface PostgresServer {
  url: string
  /** Leaves the server; whoever leaves it last shuts it down. */
  stop(): Promise<void>
}

export interface StartOptions {
  /** Holds all of the server: made when missing, else empty or of an earlier start. */
  directory: string
  /** Settings of postgresql.conf beside or instead of ours; a server that runs already keeps its own. */
  settings?: Record<string, string>
  /** The `native` folder of another build of the server. */
  native?: string
  onProgress?: (line: string) => void
}

const USER = 'referrer'
const DATABASE = 'postgres'
/** A crashed server may have to replay its log first. */
const PATIENCE_MS = 300_000
const LONGEST_PAUSE_MS = 30_000

/**
 * Starts the server of a directory, or joins the one that runs there already, whoever started it. Until `stop`,
 * a server that dies is started again.
 */
export async function startPostgres(options: StartOptions): Promise<PostgresServer> {
  try {
    const home = await openHome(options.directory)
    return await keepRunning(home, options)
  } catch (error) {
    throw explain(error, options.directory)
  }
}

async function keepRunning(home: Home, options: StartOptions): Promise<PostgresServer> {
  const url = socketUrl(home.socketDirectory, USER, DATABASE)
  const stopping = new AbortController()
  let hold: Promise<Hold | undefined> = Promise.resolve(await joinOrLaunch(home, url, options))
  const watching = (async () => {
    for (let held = await hold; held; held = await hold) {
      await held.lost
      if (stopping.signal.aborted) return
      hold = startAgain(home, url, options, stopping.signal)
    }
  })()
  return {
    url,
    async stop() {
      stopping.abort()
      const held = await hold
      const isLast = await held?.leave().catch(() => false)
      if (isLast) await shutDown(home)
      await held?.close()
      await watching
    },
  }
}

async function startAgain(
  home: Home,
  url: string,
  options: StartOptions,
  signal: AbortSignal,
): Promise<Hold | undefined> {
  options.onProgress?.('Postgres has gone: starting it again')
  for (let pause = 1000; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await joinOrLaunch(home, url, options)
    } catch (error) {
      options.onProgress?.(messageOf(explain(error, home.directory)))
      await sleep(pause, undefined, { signal }).catch(() => {})
    }
  }
  return undefined
}

async function joinOrLaunch(home: Home, url: string, options: StartOptions): Promise<Hold> {
  let launched: Launch | undefined
  const deadline = Date.now() + PATIENCE_MS
  while (Date.now() < deadline) {
    const hold = await tryHold(url)
    if (hold !== 'absent' && hold !== 'not ready') return hold
    if (hold === 'absent' && launched === undefined) launched = await prepareAndLaunch(home, options)
    const said = await (launched ? Promise.race([launched.ended, sleep(30)]) : sleep(30))
    if (typeof said === 'string') {
      launched = undefined
      await overcome(said, home)
    }
  }
  throw new DatabaseError(
    `Postgres in ${home.directory} does not answer: read ${home.log}, end its process and start again.`,
  )
}

async function prepareAndLaunch(home: Home, options: StartOptions): Promise<Launch> {
  const { settings = {}, native, onProgress = () => {} } = options
  const binaries = await findBinaries(home, onProgress, native)
  await createCluster(binaries.initdb, home, { user: USER, sync: settings.fsync !== 'off' }, onProgress)
  onProgress('starting Postgres')
  return launch(binaries.postgres, home, settings)
}

/** Returns when another try is worth it: somebody else was first, or a dead server's remains are in the way. */
async function overcome(said: string, home: Home): Promise<void> {
  if (/lock file .* (already exists|is empty)/.test(said)) await removeStaleLocks(home)
  else if (!/pre-existing shared memory block/.test(said)) throw startFailure(said, home)
  await sleep(100)
}
