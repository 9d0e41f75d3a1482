// Where the database is read for a request: on a replica, if the route or tool allows it and the replica has what the caller wrote.
import { type Context, once, readingFrom } from '../kit/context.ts'
import { MarketError } from '../kit/market-error.ts'
import type { Replica } from '../machinery/replicas/replicas.ts'

export interface Asker {
  /** Key of the client for rate limits. */
  client: string
  /** Whose signature or session the request has. */
  address?: string | undefined
}

/** Runs an operation that writes, and remembers that the asker wrote before the answer is sent. */
export async function writing<T>(context: Context, asker: Asker, run: () => Promise<T>): Promise<T> {
  const answer = await run()
  await context.replicas?.wrote(callersOf(asker))
  return answer
}

/** Runs an operation that only reads, which is repeated on the primary when a replica fails. */
export async function reading<T>(
  context: Context,
  asker: Asker,
  run: (context: Context) => Promise<T>,
): Promise<T> {
  const replica = await context.replicas?.choose(callersOf(asker))
  if (!replica) return run(context)
  try {
    return await replica.during(() => run(contextOf(context, replica)))
  } catch (error) {
    // What the operation refuses, it would refuse on the primary, too.
    if (error instanceof MarketError && error.kind !== 'unavailable') throw error
    context.log.warn({ err: error }, 'a read failed on a replica: the primary is asked')
    return run(context)
  }
}

/** The account last: it decides which replica is preferred. */
const callersOf = ({ client, address }: Asker): string[] =>
  address === undefined ? [client] : [client, address.toLowerCase()]

const contexts = once(() => new Map<Replica, Context>())

function contextOf(context: Context, replica: Replica): Context {
  const known = contexts(context)
  const reader = known.get(replica) ?? readingFrom(context, replica.sql)
  known.set(replica, reader)
  return reader
}
