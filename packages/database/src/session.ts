import type { Socket } from 'node:net'
import postgres from 'postgres'
import type { Host } from './address.ts'
import { codeOf, DatabaseError } from './errors.ts'

/** What we steer of the driver's queries, beyond what its types tell; the pinned version and the tests hold it. */
export interface Query extends Promise<unknown> {
  handler: (query: Query) => void
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
  cursorRows?: number
  streaming?: boolean
  cancelled?: unknown
  /** Its text, around its values. */
  strings?: readonly string[]
}

export type Driver = postgres.Sql<Record<string, unknown>>

/** Has the code that the driver gives to a query whose connection closes. */
export class ConnectionLost extends DatabaseError {
  override name = 'ConnectionLost'
  readonly code = 'CONNECTION_CLOSED'
}

/** Servers of which one takes writes, and after a fail-over another. */
export interface Servers {
  /** The one that was found last, or looks for it. */
  find(): Promise<Host>
  /** Asks all of them again. */
  look(): Promise<Host>
  /** The next `find` looks anew. */
  doubt(): void
  /** Whether another one is known to take the writes now. */
  isElsewhere(host: Host): boolean
  openToListen(): Promise<Socket>
  close(): void
}

const LOST = 'The connection to the database was lost: try again.'
const CLOSED = 'The connection to the database was closed by this program.'
const MOVED = 'The database has moved to another server: try again.'
const UNCERTAIN =
  'This commit was not confirmed by the synchronous standby, so a fail-over could lose it: look whether it is there, or try again.'

/** A query that takes so long may wait for a server that is no longer the primary: one that was cut off says nothing. */
const SUSPECT_MS = 2_000

/** The words of a server to its client that are read here; the driver's types leave most of them out. */
type Notice = { routine?: string }

/**
 * One connection, never opened again once it is lost. The driver by itself reconnects behind its caller's back,
 * in the middle of a transaction or while a lock is held; and a query that meets a connection in the moment of
 * its closing crashes the process or is never answered.
 */
export class Session {
  #lost: ConnectionLost | undefined
  readonly #template: Driver
  readonly #servers: Servers | undefined
  #driver: Driver | undefined
  #send: ((query: Query) => void) | undefined
  #host: Host | undefined
  #suspicion: NodeJS.Timeout | undefined
  readonly #running = new Set<Query>()
  readonly #onLost: () => void

  constructor(
    template: Driver,
    { onLost = () => {}, servers }: { onLost?: () => void; servers?: Servers | undefined } = {},
  ) {
    this.#template = template
    this.#servers = servers
    this.#onLost = onLost
    if (!servers) this.#open({})
  }

  get lost(): ConnectionLost | undefined {
    return this.#lost
  }

  /** Whether it may be used once more: not on a server that is no longer the one. */
  get isUsable(): boolean {
    if (this.#lost) return false
    return !(this.#host && this.#servers?.isElsewhere(this.#host))
  }

  /** Sends a query; `settled` hears how it ended before the query's caller does. */
  run(query: Query, settled: (error?: unknown) => void = () => {}): void {
    const { resolve, reject } = query
    // Named first: see query.ts for what becomes of functions that are written into a property.
    const resolved = (value: unknown) => {
      this.#ended(query)
      settled()
      resolve.call(query, value)
    }
    const rejected = (error: unknown) => {
      this.#ended(query)
      if (endsConnection(error)) this.#lose(LOST)
      settled(error)
      reject.call(query, error)
    }
    query.resolve = resolved
    query.reject = rejected
    if (query.cancelled) {
      settled()
    } else if (this.#lost) {
      query.reject(this.#lost)
    } else {
      this.#running.add(query)
      if (this.#servers) this.#suspicion ??= this.#suspect(this.#servers)
      if (this.#send) this.#send(query)
      else if (this.#servers) void this.#sendTo(this.#servers, query)
    }
  }

  async end(): Promise<void> {
    this.#lose(CLOSED)
    await this.#driver?.end({ timeout: 0 })
  }

  /** Connects to the server that takes writes; what is sent meanwhile waits for the same search, in its order. */
  async #sendTo(servers: Servers, query: Query): Promise<void> {
    try {
      const host = await servers.find()
      if (this.#lost || query.cancelled) return
      if (!this.#send) {
        this.#host = host
        this.#open(addressOptions(host))
      }
      this.#send?.(query)
    } catch (error) {
      query.reject(error)
    }
  }

  #open(address: object): void {
    // As the driver does for its own listeners: parsed options are taken as they are, and share what was learnt.
    const options = {
      ...this.#template.options,
      ...address,
      max: 1,
      max_lifetime: null,
      onclose: () => this.#lose(LOST),
      onnotice: ({ routine }: Notice) => {
        // Somebody has cancelled the wait: the server goes on as if the commit were safe.
        if (routine === 'SyncRepWaitForLSN') this.#lose(UNCERTAIN)
      },
      ...(this.#servers && {
        parameters: {},
        onparameter: (name: string, value: string) => {
          if (name === 'in_hot_standby' && value === 'on') this.#lose(MOVED)
        },
      }),
    }
    this.#driver = postgres(options as unknown as postgres.Options<Record<string, never>>)
    this.#send = (this.#driver`` as unknown as Query).handler
  }

  #suspect(servers: Servers): NodeJS.Timeout {
    const timer = setTimeout(async () => {
      await servers.look().catch(() => {})
      this.#suspicion = undefined
      if (!this.isUsable) this.#lose(MOVED)
      else if (this.#running.size > 0) this.#suspicion = this.#suspect(servers)
    }, SUSPECT_MS)
    return timer.unref()
  }

  #ended(query: Query): void {
    this.#running.delete(query)
    if (this.#running.size > 0) return
    clearTimeout(this.#suspicion)
    this.#suspicion = undefined
  }

  #lose(reason: string): void {
    if (this.#lost) return
    this.#lost = new ConnectionLost(reason)
    if (reason !== CLOSED) this.#servers?.doubt()
    for (const query of this.#running) query.reject(this.#lost)
    this.#onLost()
  }
}

/** Where to connect to, in the driver's parsed options. */
export function addressOptions({ name, port }: Host): object {
  const path = name.startsWith('/') ? `${name}/.s.PGSQL.${port}` : false
  return { host: [name], port: [port], path, socket: undefined }
}

/** The server takes no writes any more; behind a name that follows the primary, the next connection finds another. */
const READ_ONLY = '25006'

/** 57014 from the driver, not the server: a query cancelled while it connects leaves the connection unusable. */
function endsConnection(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return error.severity !== 'ERROR' || error.code === READ_ONLY
  return /^(CONNECT|E[A-Z]+$|57014)/.test(codeOf(error) ?? '')
}
