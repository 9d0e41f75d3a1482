import { DatabaseError } from './errors.ts'
import type { Query, Session } from './session.ts'
import type { Transaction } from './sql.ts'

export type Send = (query: Query) => void
export type Work = (tx: Transaction) => unknown
type Savepoint = [Work] | [string, Work]

const OVER = 'This transaction is over: await its queries inside of it.'
const ROLLED_BACK =
  'This transaction was rolled back, since a query of it failed that was not awaited: await all of them.'

/** Runs work in a transaction on a session; `front` makes the sql function that sends with a given sender. */
export async function runTransaction(
  session: Session,
  front: (send: Send, extra: object) => Transaction,
  options: string,
  work: Work,
): Promise<unknown> {
  const own = front((query) => session.run(query), {})
  let savepoints = 0
  await own.unsafe(`begin ${options.replace(/[^a-z ]/gi, '')}`)
  try {
    const result = await scope(work)
    const { command } = await own`commit`
    // A statement that nobody waited for has failed.
    if (command === 'ROLLBACK') throw new DatabaseError(ROLLED_BACK)
    return result
  } catch (error) {
    if (!session.lost) await own`rollback`.catch(() => session.end())
    throw error
  }

  /** A failed statement fails its scope, even when the work went on as if nothing were. */
  async function scope(inner: Work): Promise<unknown> {
    let open = true
    let failure: { error: unknown } | undefined
    const send: Send = (query) => {
      if (!open) return query.reject(new DatabaseError(OVER))
      session.run(query, (error) => {
        if (error !== undefined) failure ??= { error }
      })
    }
    try {
      const returned = inner(
        front(send, {
          savepoint: (...args: Savepoint) =>
            open ? savepoint(args) : Promise.reject(new DatabaseError(OVER)),
        }),
      )
      const result = await (Array.isArray(returned) ? Promise.all(returned) : returned)
      if (failure) throw failure.error
      return result
    } finally {
      open = false
    }
  }

  async function savepoint(args: Savepoint): Promise<unknown> {
    const inner = args.length === 1 ? args[0] : args[1]
    const name = own(`s${savepoints++}`)
    await own`savepoint ${name}`
    try {
      return await scope(inner)
    } catch (error) {
      if (!session.lost) await own`rollback to savepoint ${name}`
      throw error
    }
  }
}
