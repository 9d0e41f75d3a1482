// Several servers of which one takes writes, now this one and after a fail-over another.
import { connect as dial, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Host, placeOf } from './address.ts'
import { DatabaseError, messageOf } from './errors.ts'
import { sessionFront } from './front.ts'
import { type Driver, type Servers, Session } from './session.ts'

/** A server that does not answer a probe within this time counts as dead. */
const PROBE_MS = 2_000
/** Those who ask while nobody can be written share an answer for this long, and waiting listeners pause so long. */
const FAILED_MS = 200

/** Has a code like the driver's for a connection that cannot be made. */
export class NoPrimary extends DatabaseError {
  override name = 'NoPrimary'
  readonly code = 'CONNECT_NO_PRIMARY'
}

/**
 * The newest timeline seen by this process, by list of servers. A former primary that comes back by itself is on an older one: it must not be
 * written again, even by a pool that was opened after the fail-over.
 */
const newestSeen = new Map<string, number>()

/** The timeline that a server writes on: one that was promoted has a higher number. Undefined: it takes no writes. */
interface Probed {
  timeline?: number | undefined
  state: string
}

export interface Sought {
  hosts: readonly Host[]
  /** Only the one that takes writes, else the first that answers. */
  isWritten: boolean
}

export function seekServers({ hosts, isWritten }: Sought, probes: (host: Host) => Driver): Servers {
  const key = hosts.map(placeOf).join(',')
  const listening = new Map<Socket, Host>()
  let current: Host | undefined
  let isDoubted = false
  let isClosed = false

  const isNewest = ({ timeline = 0 }: Probed) => timeline > 0 && timeline >= (newestSeen.get(key) ?? Infinity)

  function seen(answers: Probed[]): void {
    newestSeen.set(key, Math.max(newestSeen.get(key) ?? 0, ...answers.map(({ timeline = 0 }) => timeline)))
  }

  /** Asks all at once. Unless all are to be heard, one that is not behind what was seen before is good enough: a silent one takes its time. */
  async function search(hearsAll: boolean): Promise<Host> {
    const quick = Promise.withResolvers<Host>()
    const asked = hosts.map(async (host) => {
      const probed = await probe(probes(host))
      if (!hearsAll && isNewest(probed)) {
        seen([probed])
        quick.resolve(host)
      }
      return { host, ...probed }
    })
    return Promise.race([quick.promise, Promise.all(asked).then(choose)])
  }

  function choose(answers: (Probed & { host: Host })[]): Host {
    seen(answers)
    const found =
      answers.find(isNewest) ?? (isWritten ? undefined : answers.find(({ state }) => state === STANDBY))
    if (found) return found.host
    const states = answers.map(({ host, state, timeline }) =>
      timeline === undefined
        ? `${placeOf(host)} ${state}`
        : `${placeOf(host)} is a former primary, behind a fail-over that was seen`,
    )
    throw new NoPrimary(
      `No server of DATABASE_URL can be written (${states.join('; ')}): start or promote one, or correct DATABASE_URL.`,
    )
  }

  function known(host: Host): Host {
    current = host
    isDoubted = false
    for (const [socket, other] of listening) if (other !== host) socket.destroy()
    return host
  }

  const looking = shared(() => search(true).then(known))
  const finding = shared(() => search(false).then(known))

  return {
    find: () => (current && !isDoubted ? Promise.resolve(current) : finding()),
    look: looking,
    doubt() {
      isDoubted = true
    },
    isElsewhere: (host) => current !== undefined && current !== host,
    /** Waits for a server that can be written: the driver does not try again when this fails, and would never hear anything again. */
    async openToListen() {
      while (!isClosed) {
        try {
          const host = await finding()
          const socket = await dialed(host)
          listening.set(socket, host)
          socket.once('close', () => listening.delete(socket))
          return socket
        } catch {
          await sleep(FAILED_MS)
        }
      }
      throw new DatabaseError('This program has closed its connections to the database.')
    },
    close() {
      isClosed = true
    },
  }
}

const STANDBY = 'is a standby'

/** Those who ask meanwhile share the answer; a failure is kept for a moment, so that a busy program does not ask without a pause. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | undefined
  return () => {
    if (asking) return asking
    const end = () => {
      asking = undefined
    }
    asking = ask()
    asking.then(end, () => setTimeout(end, FAILED_MS).unref())
    return asking
  }
}

async function probe(driver: Driver): Promise<Probed> {
  const session = new Session(driver)
  const sql = sessionFront(driver, session, () => {})
  const timer = setTimeout(() => session.end().catch(() => {}), PROBE_MS)
  try {
    const [row] = await sql<{ is_standby: boolean; is_read_only: boolean; segment: string | null }[]>`
      select pg_is_in_recovery() as is_standby, current_setting('transaction_read_only')::boolean as is_read_only,
        case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_insert_lsn()) end as segment`
    if (row?.is_standby || !row?.segment) return { state: STANDBY }
    if (row.is_read_only) return { state: 'is read-only' }
    // The name of a file of the log begins with the timeline, as eight hex digits.
    return { timeline: Number.parseInt(row.segment.slice(0, 8), 16), state: 'is a primary' }
  } catch (error) {
    return { state: `does not answer: ${messageOf(error)}` }
  } finally {
    clearTimeout(timer)
    void session.end().catch(() => {})
  }
}

/** A connected socket, which the driver goes on with. */
async function dialed(host: Host): Promise<Socket> {
  const socket = Object.assign(
    dial(
      host.name.startsWith('/')
        ? { path: `${host.name}/.s.PGSQL.${host.port}` }
        : { host: host.name, port: host.port },
    ),
    {
      // The driver checks the certificate against it.
      host: host.name,
    },
  )
  socket.setTimeout(PROBE_MS, () => socket.destroy(new Error('no connection in time')))
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  socket.setTimeout(0)
  socket.removeAllListeners('error')
  return socket
}
