import postgres from 'postgres'
import { codeOf, DatabaseError } from './errors.ts'

/** What we steer of the driver's queries, beyond what its types tell; the pinned version and the tests hold it. */
export interface Query extends Promise<unknown> {
  handler: (query: Query) => void
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
  cursorRows?: number
  streaming?: boolean
  cancelled?: unknown
}

export type Driver = postgres.Sql<Record<string, unknown>>

/** Has the code that the driver gives to a query whose connection closes. */
export class ConnectionLost extends DatabaseError {
  override name = 'ConnectionLost'
  readonly code = 'CONNECTION_CLOSED'
}

/**
 * One connection, never opened again once it is lost. The driver by itself reconnects behind its caller's back,
 * in the middle of a transaction or while a lock is held; and a query that meets a connection in the moment of
 * its closing crashes the process or is never answered.
 */
export class Session {
  #lost: ConnectionLost | undefined
  readonly #driver: Driver
  readonly #send: (query: Query) => void
  readonly #running = new Set<Query>()
  readonly #onLost: () => void

  constructor(template: Driver, onLost: () => void = () => {}) {
    this.#onLost = onLost
    // As the driver does for its own listeners: parsed options are taken as they are, and share what was learnt.
    const options = {
      ...template.options,
      max: 1,
      max_lifetime: null,
      onclose: () => this.#lose('The connection to the database was lost: try again.'),
    }
    this.#driver = postgres(options as unknown as postgres.Options<Record<string, never>>)
    this.#send = (this.#driver`` as unknown as Query).handler
  }

  get lost(): ConnectionLost | undefined {
    return this.#lost
  }

  /** Sends a query; `settled` hears how it ended before the query's caller does. */
  run(query: Query, settled: (error?: unknown) => void = () => {}): void {
    const { resolve, reject } = query
    // Named first: see query.ts for what becomes of functions that are written into a property.
    const resolved = (value: unknown) => {
      this.#running.delete(query)
      settled()
      resolve.call(query, value)
    }
    const rejected = (error: unknown) => {
      this.#running.delete(query)
      if (endsConnection(error)) this.#lose('The connection to the database was lost: try again.')
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
      this.#send(query)
    }
  }

  async end(): Promise<void> {
    this.#lose('The connection to the database was closed by this program.')
    await this.#driver.end({ timeout: 0 })
  }

  #lose(reason: string): void {
    if (this.#lost) return
    this.#lost = new ConnectionLost(reason)
    for (const query of this.#running) query.reject(this.#lost)
    this.#onLost()
  }
}

/** 57014 from the driver, not the server: a query cancelled while it connects leaves the connection unusable. */
function endsConnection(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return error.severity !== 'ERROR'
  return /^(CONNECT|E[A-Z]+$|57014)/.test(codeOf(error) ?? '')
}
