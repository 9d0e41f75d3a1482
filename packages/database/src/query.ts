import type { Driver, Query } from './session.ts'

type Settle = (value: unknown) => void

/**
 * A query as the driver knows it, that lets go of its rows. The driver writes `this.resolve = x => …` for each of its own: V8 puts a function
 * that is written into a property among its old objects at once, and so all that it leads to, every row of every query, outlives the
 * quick collections and makes them slow. The pinned version of the driver and the tests hold what is used of it here.
 */
class OwnQuery {
  readonly tagged = true
  readonly options = {}
  state = null
  statement = null
  active = false
  cancelled = null
  executed = false
  signature = ''
  readonly strings: TemplateStringsArray
  readonly args: unknown[]
  readonly handler: Query['handler']
  readonly canceller: unknown
  readonly site: Error
  #outcome: PromiseWithResolvers<unknown> | undefined
  declare handle: () => Promise<void>

  constructor(
    strings: TemplateStringsArray,
    args: unknown[],
    { handler, canceller, site }: Pick<OwnQuery, 'handler' | 'canceller' | 'site'>,
  ) {
    this.strings = strings
    this.args = args
    this.handler = handler
    this.canceller = canceller
    this.site = site
  }

  /** Where it stands in the caller's code, for the stack of its errors. */
  get origin() {
    return this.site.stack
  }

  get outcome(): PromiseWithResolvers<unknown> {
    this.#outcome ??= Promise.withResolvers()
    return this.#outcome
  }

  resolve(value: unknown): void {
    this.active = false
    this.outcome.resolve(value)
  }

  reject(error: unknown): void {
    this.active = false
    this.outcome.reject(error)
  }

  // biome-ignore lint/suspicious/noThenProperty: it is awaited, and runs when somebody does.
  then(onResolved?: Settle, onRejected?: Settle): Promise<unknown> {
    this.handle()
    return this.outcome.promise.then(onResolved, onRejected)
  }
}

type MakeQuery = (strings: TemplateStringsArray, args: unknown[], site: Error) => Query

/** Queries that are handed to `handler` when they are awaited. */
export function queryMaker(driver: Driver, handler: Query['handler']): MakeQuery {
  const theirs = driver`` as unknown as { canceller: unknown }
  const prototype = Object.getPrototypeOf(theirs)
  // The driver tells its queries by this, and `values`, `execute` and all the others are theirs.
  if (Object.getPrototypeOf(OwnQuery.prototype) !== prototype)
    Object.setPrototypeOf(OwnQuery.prototype, prototype)
  const { canceller } = theirs
  return (strings, args, site) =>
    new OwnQuery(strings, args, { handler, canceller, site }) as unknown as Query
}
