import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Sql, type Transaction } from '@referrer/database'

/** What the holder of a lock writes with: the one connection that holds it. When it is lost, everything on it fails from then on. */
export interface Leadership {
  sql: Sql
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

export interface LeadershipOptions {
  databaseUrl: string
  /** Whoever holds the lock of this name leads; all others wait. */
  lock: string
  signal: AbortSignal
  pollMs?: number
  /** Called once when somebody else leads. */
  onStandby?: () => void
}

/**
 * A machine that loses its power or its network says no goodbye: the server, left to itself, would keep the lock for it for hours.
 * Ignored on a unix socket.
 */
const LET_GO_OF_THE_DEAD = `
  SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 10000`

/** Waits until this process holds the lock, then works under it. */
export async function lead<T>(
  { databaseUrl, lock, signal, pollMs = 500, onStandby = () => {} }: LeadershipOptions,
  work: (leadership: Leadership) => Promise<T>,
): Promise<T> {
  const pool = connect(databaseUrl, { max: 1, name: lock })
  try {
    const sql = await pool.reserve()
    try {
      await sql.unsafe(LET_GO_OF_THE_DEAD)
      await acquire(sql, { lock, signal, pollMs, onStandby })
      const transaction = <R>(inner: (tx: Transaction) => Promise<R>) => sql.begin(inner) as Promise<R>
      return await work({ sql, transaction })
    } finally {
      sql.release()
    }
  } finally {
    await pool.end({ timeout: 5 })
  }
}

async function acquire(
  sql: Sql,
  { lock, signal, pollMs, onStandby }: Required<Omit<LeadershipOptions, 'databaseUrl'>>,
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    signal.throwIfAborted()
    const [row] = await sql<{ held: boolean }[]>`
      SELECT pg_try_advisory_lock(hashtextextended(${lock}, 0)) AS held`
    if (row?.held) return
    if (tries === 0) onStandby()
    await sleep(pollMs, undefined, { signal })
  }
}
