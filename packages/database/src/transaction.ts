import { DatabaseError } from './errors.ts'
import type { Query, Session } from './session.ts'
import type { Transaction } from './sql.ts'

export type Send = (query: Query) => void
export type Work = (tx: Transaction) => unknown

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
    await own`commit`
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
      if (!open)
        return query.reject(new DatabaseError('This transaction is over: await its queries inside of it.'))
      session.run(query, (error) => {
        if (error !== undefined) failure ??= { error }
      })
    }
    try {
      const returned = inner(front(send, { savepoint }))
      const result = await (Array.isArray(returned) ? Promise.all(returned) : returned)
      if (failure) throw failure.error
      return result
    } finally {
      open = false
    }
  }

  async function savepoint(...args: [Work] | [string, Work]): Promise<unknown> {
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
