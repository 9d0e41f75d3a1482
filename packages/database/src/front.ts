import type postgres from 'postgres'
import { DatabaseError } from './errors.ts'
import { Pool, type PoolUse } from './pool.ts'
import { queryMaker } from './query.ts'
import type { Driver, Query, Servers, Session } from './session.ts'
import type { Sql, Transaction, Types } from './sql.ts'
import { runTransaction, type Send, type Work } from './transaction.ts'
import { fitHelper, fitParameter, type Typed } from './values.ts'

interface FrontOptions {
  /** Where sessions connect to, if not where the driver does. */
  servers?: Servers | undefined
  observe?: QueryObserver | undefined
}

/** The driver's `sql`, whose queries go through our own sessions. */
export function createFront(
  driver: Driver,
  max: number,
  { servers, observe = () => undefined }: FrontOptions = {},
): Sql {
  const pool = new Pool(driver, max, servers)
  const sql = front(driver, throughPool(pool, observe), {
    begin: (...args: [Work] | [string, Work]) =>
      observed(observe, () => lend(pool, (session) => begin(driver, session, args))),
    reserve: async () => {
      const session = await pool.borrow()
      return sessionFront(driver, session, () => pool.giveBack(session))
    },
    end: async ({ timeout }: { timeout?: number } = {}) => {
      servers?.close()
      await Promise.all([pool.end(timeout), driver.end({ timeout })])
    },
  }) as Sql
  pools.set(sql, pool)
  return sql
}

const pools = new WeakMap<Sql, Pool>()

/** How busy a pool is now; undefined where `sql` is not a pool of `connect`. */
export const poolUse = (sql: Sql): PoolUse | undefined => pools.get(sql)?.use

/** Told of a statement, or of a transaction as a whole; what it returns is called at its end. */
export type QueryObserver = (statement: string) => ((error?: unknown) => void) | undefined

async function observed<T>(observe: QueryObserver, work: () => Promise<T>): Promise<T> {
  const end = observe('transaction')
  if (!end) return work()
  try {
    const result = await work()
    end()
    return result
  } catch (error) {
    end(error)
    throw error
  }
}

function throughPool(pool: Pool, observe: QueryObserver): Send {
  return (query) => {
    if (query.cursorRows !== undefined || query.streaming) {
      return query.reject(
        new DatabaseError('Cursors and copies need a connection of their own: use them in sql.begin.'),
      )
    }
    // The values of a statement are left out: they may be secrets.
    const end = observe(query.strings?.join('?') ?? '')
    pool.borrow().then(
      (session) =>
        session.run(query, (error) => {
          pool.giveBack(session)
          end?.(error)
        }),
      (error) => {
        end?.(error)
        query.reject(error)
      },
    )
  }
}

async function lend<T>(pool: Pool, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await pool.borrow()
  try {
    return await work(session)
  } finally {
    pool.giveBack(session)
  }
}

function begin(driver: Driver, session: Session, args: [Work] | [string, Work]): Promise<unknown> {
  const [options, work] = args.length === 1 ? ['', args[0]] : args
  return runTransaction(session, (send, extra) => front(driver, send, extra) as Transaction, options, work)
}

/** An `sql` for one session alone. It holds one transaction at a time, and meanwhile nothing beside it. */
export function sessionFront(
  driver: Driver,
  session: Session,
  release: () => void,
): postgres.ReservedSql<Types> {
  let isReleased = false
  let isInTransaction = false
  function refusal(): DatabaseError | undefined {
    if (isReleased) return new DatabaseError('This session was released: reserve another.')
    if (isInTransaction)
      return new DatabaseError('A transaction is open on this session: query it, or await its end.')
    return undefined
  }
  const send: Send = (query) => {
    const refused = refusal()
    return refused ? query.reject(refused) : session.run(query)
  }
  return front(driver, send, {
    begin: async (...args: [Work] | [string, Work]) => {
      const refused = refusal()
      if (refused) throw refused
      isInTransaction = true
      try {
        return await begin(driver, session, args)
      } finally {
        isInTransaction = false
      }
    },
    release() {
      isReleased = true
      // Whoever gets the session next must not find itself in a stranger's transaction.
      if (isInTransaction) void session.end().catch(() => {})
      release()
    },
  }) as postgres.ReservedSql<Types>
}

/** The driver's `sql` with queries of our own, of which `send` decides where they run; `extra` stands before the driver's own methods. */
function front(driver: Driver, send: Send, extra: object): unknown {
  const typed = driver.typed as Typed
  const makeQuery = queryMaker(driver, send)
  const sent = (query: unknown) => Object.assign(query as Query, { handler: send })
  const own = {
    unsafe: (text: string, parameters: unknown[] = [], options = {}) =>
      sent(driver.unsafe(text, parameters.map((value) => fitParameter(value, typed)) as never[], options)),
    notify: (channel: string, payload: string) => sent(driver`select pg_notify(${channel}, ${payload})`),
    ...extra,
  }
  function call(target: Driver, self: unknown, [first, ...rest]: unknown[]): unknown {
    if (!isTemplate(first)) return Reflect.apply(target, self, [fitHelper(first, rest, typed), ...rest])
    const args = rest.map((value) => fitParameter(value, typed))
    return makeQuery(first, args, callSite(first, call))
  }
  return new Proxy(driver, {
    apply: call,
    get: (target, name) => Reflect.get(Object.hasOwn(own, name) ? own : target, name),
  })
}

const callSites = new WeakMap<TemplateStringsArray, Error>()

/** Where a query stands in the caller's code, for the stack of its errors: taken once for each template. */
function callSite(template: TemplateStringsArray, below: (...args: never[]) => unknown): Error {
  const known = callSites.get(template)
  if (known) return known
  const site = new Error()
  Error.captureStackTrace(site, below)
  callSites.set(template, site)
  return site
}

function isTemplate(value: unknown): value is TemplateStringsArray {
  return Array.isArray(value) && 'raw' in value
}
