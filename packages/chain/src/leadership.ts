import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Sql, type Transaction } from '@referrer/database'

/** The database connection that holds the lock. When the connection is lost, every later statement on it fails. */
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
 * A machine that loses power or network does not close its connection, and by default the server would keep its lock for hours.
 * Ignored on a unix socket.
 */
const DETECT_DEAD_CLIENTS = `
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
      await sql.unsafe(DETECT_DEAD_CLIENTS)
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
