import postgres from 'postgres'
import { connect } from './connect.ts'
import { codeOf } from './errors.ts'

/** Two-part advisory locks are apart from those of one bigint, which the rooms use. */
const USERS_OF_THE_SERVER = [0x52656665, 1] as const

/**
 * One process's share in a running server: a connection with a shared lock, which the kernel lets go of
 * however the process ends.
 */
export interface Hold {
  /** Gives the share back; true when nobody else holds one, and then nobody can take one. */
  leave(): Promise<boolean>
  close(): Promise<void>
}

export async function tryHold(url: string): Promise<Hold | 'absent' | 'not ready'> {
  const sql = connect(url, { max: 1, name: 'referrer hold' })
  const [a, b] = USERS_OF_THE_SERVER
  try {
    const session = await sql.reserve()
    await session`select pg_advisory_lock_shared(${a}, ${b})`
    return {
      async leave() {
        await session`select pg_advisory_unlock_shared(${a}, ${b})`
        const [row] = await session<{ last: boolean }[]>`select pg_try_advisory_lock(${a}, ${b}) as last`
        return row?.last === true
      },
      close: () => sql.end({ timeout: 0 }),
    }
  } catch (error) {
    await sql.end({ timeout: 0 })
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'absent'
    if (isPassing(error)) return 'not ready'
    throw error
  }
}

/** 57P01…57P03: shutting down, crashed, starting up. */
function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  return error instanceof postgres.PostgresError
    ? /^57P0/.test(error.code)
    : /^(CONN|ECONN|EPIPE)/.test(code ?? '')
}
