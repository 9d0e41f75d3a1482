// Knows of a server, a few times a second, how far it is in the write-ahead log.
import { connect } from '@referrer/database'
import { withTimeout } from '@referrer/process'

/** A server that does not say in this time how far it is counts as gone. */
const PATIENCE_MS = 1_000

export interface Gauge {
  /** Undefined: it does not answer, or is no longer what it was. */
  look(): Promise<bigint | undefined>
  close(): Promise<void>
}

/** With a connection of its own, so that it does not wait behind the reads of callers. */
function gauge(url: string, name: string, statement: string): Gauge {
  let sql = connect(url, { max: 1, name })
  return {
    async look() {
      try {
        const [row] = await withTimeout(
          PATIENCE_MS,
          sql.unsafe<{ position: bigint | null }[]>(statement).execute(),
          () => {
            throw new Error(`no answer within ${PATIENCE_MS} ms`)
          },
        )
        return row?.position ?? undefined
      } catch {
        // The question may still hang on its connection.
        void sql.end({ timeout: 0 }).catch(() => {})
        sql = connect(url, { max: 1, name })
        return undefined
      }
    },
    close: () => sql.end({ timeout: 0 }),
  }
}

/** Only what was flushed can be on a replica. */
export const primaryGauge = (url: string): Gauge =>
  gauge(url, 'referrer replicas', `SELECT pg_current_wal_flush_lsn() - '0/0' AS position`)

/** A replica that was promoted follows nobody any more. */
export const replicaGauge = (url: string): Gauge =>
  gauge(
    url,
    'referrer replicas',
    `SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() - '0/0' END AS position`,
  )
