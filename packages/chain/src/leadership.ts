import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Sql, type Transaction } from '@referrer/database'

/** What the holder of a lock writes with: one connection, which loses the lock when it is lost. */
export interface Leadership {
  sql: Sql
  /** A transaction that is refused when the lock was lost meanwhile. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

export interface LeadershipOptions {
  databaseUrl: string
  /** Whoever holds the lock of this name leads; all others wait. */
  lock: string
  signal: AbortSignal
  pollMs?: number
}

/** Waits until this process holds the lock, then works under it. */
export async function lead<T>(
  { databaseUrl, lock, signal, pollMs = 500 }: LeadershipOptions,
  work: (leadership: Leadership) => Promise<T>,
): Promise<T> {
  const sql = connect(databaseUrl, { max: 1, name: lock })
  try {
    const backend = await acquire(sql, lock, signal, pollMs)
    return await work({
      sql,
      transaction: (inner) =>
        sql.begin(async (tx) => {
          // A lost connection is replaced silently, and its successor holds no lock.
          const [row] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
          if (row?.pid !== backend) throw new Error(`the connection that held the lock "${lock}" was lost`)
          return inner(tx)
        }) as Promise<T>,
    } as Leadership)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function acquire(sql: Sql, lock: string, signal: AbortSignal, pollMs: number): Promise<number> {
  for (;;) {
    signal.throwIfAborted()
    const [row] = await sql<{ held: boolean; pid: number }[]>`
      SELECT pg_try_advisory_lock(hashtextextended(${lock}, 0)) AS held, pg_backend_pid() AS pid`
    if (row?.held) return row.pid
    await sleep(pollMs, undefined, { signal })
  }
}
