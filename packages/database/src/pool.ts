import { DatabaseError } from './errors.ts'
import { type Driver, type Servers, Session } from './session.ts'

type Waiter = { resolve: (session: Session) => void; reject: (error: Error) => void }

export interface PoolUse {
  max: number
  inUse: number
  /** Callers that wait for a session. */
  waiting: number
}

/** At most `max` sessions, each lent to one borrower at a time, first come first served. */
export class Pool {
  readonly #template: Driver
  readonly #max: number
  readonly #servers: Servers | undefined
  readonly #idle: Session[] = []
  readonly #lent = new Set<Session>()
  readonly #waiting: Waiter[] = []
  #ended = false
  readonly #allReturned = Promise.withResolvers<void>()

  constructor(template: Driver, max: number, servers?: Servers) {
    this.#template = template
    this.#servers = servers
    this.#max = max
  }

  get use(): PoolUse {
    return { max: this.#max, inUse: this.#lent.size, waiting: this.#waiting.length }
  }

  async borrow(): Promise<Session> {
    if (this.#ended) throw ended()
    const session = this.#take()
    if (session) return session
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  giveBack(session: Session): void {
    if (!this.#lent.delete(session)) return
    if (!session.isUsable || this.#ended) void session.end().catch(() => {})
    else this.#idle.push(session)
    if (this.#ended && this.#lent.size === 0) this.#allReturned.resolve()
    const waiter = this.#waiting[0]
    const next = waiter && this.#take()
    if (waiter && next) {
      this.#waiting.shift()
      waiter.resolve(next)
    }
  }

  /** Waits for those who still work, for `seconds` at most, then closes everything. */
  async end(seconds: number | undefined): Promise<void> {
    // The driver hands over a query a moment after it was written down: those before us are let in.
    await Promise.resolve()
    this.#ended = true
    for (const waiter of this.#waiting.splice(0)) waiter.reject(ended())
    if (this.#lent.size > 0) {
      let timer: NodeJS.Timeout | undefined
      const patience = new Promise<void>((resolve) => {
        if (seconds !== undefined) timer = setTimeout(resolve, seconds * 1000)
      })
      await Promise.race([this.#allReturned.promise, patience])
      clearTimeout(timer)
    }
    await Promise.all([...this.#idle, ...this.#lent].map((session) => session.end()))
  }

  #take(): Session | undefined {
    let session = this.#idle.pop()
    while (session && !session.isUsable) {
      void session.end().catch(() => {})
      session = this.#idle.pop()
    }
    if (!session && this.#lent.size < this.#max) {
      session = new Session(this.#template, { servers: this.#servers })
    }
    if (session) this.#lent.add(session)
    return session
  }
}

function ended(): DatabaseError {
  return new DatabaseError(
    'This program has closed its connections to the database: open them again to go on.',
  )
}
