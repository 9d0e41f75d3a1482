import postgres from 'postgres'
import { configureDriver } from './connect.ts'
import { codeOf } from './errors.ts'
import { sessionFront } from './front.ts'
import { Session } from './session.ts'

/** Two-part advisory locks are apart from those of one bigint, which the rooms use. */
const USERS_OF_THE_SERVER = [0x52656665, 1] as const

/**
 * One process's share in a running server: a connection with a shared lock, which the kernel lets go of
 * however the process ends.
 */
export interface Hold {
  /** Resolves when the connection is gone, and with it the share. */
  lost: Promise<void>
  /** Gives the share back; true when nobody else has one, and then nobody can take one any more. */
  leave(): Promise<boolean>
  close(): Promise<void>
}

/** A server that is frozen must not keep anybody from leaving it. */
const PATIENCE_MS = 5_000

export async function tryHold(
  url: string,
  patienceMs: number = PATIENCE_MS,
): Promise<Hold | 'absent' | 'not ready'> {
  const driver = configureDriver(url, 'referrer hold')
  const lost = Promise.withResolvers<void>()
  const session = new Session(driver, { onLost: lost.resolve })
  const sql = sessionFront(driver, session, () => {})
  const [a, b] = USERS_OF_THE_SERVER
  try {
    await sql`select pg_advisory_lock_shared(${a}, ${b})`
  } catch (error) {
    await session.end()
    const code = codeOf(error) ?? ''
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'absent'
    if (error instanceof postgres.PostgresError && !PASSING.test(code)) throw error
    return 'not ready'
  }
  return {
    lost: lost.promise,
    async leave() {
      const timer = setTimeout(() => session.end().catch(() => {}), patienceMs)
      try {
        await sql`select pg_advisory_unlock_shared(${a}, ${b})`
        const [row] = await sql<{ last: boolean }[]>`select pg_try_advisory_lock(${a}, ${b}) as last`
        return row?.last === true
      } finally {
        clearTimeout(timer)
      }
    },
    close: () => session.end(),
  }
}

/** Starting up, shutting down or crashing; the wait for somebody who is about to shut it down; no room. */
const PASSING = /^(57P0\d|57014|53300)$/
