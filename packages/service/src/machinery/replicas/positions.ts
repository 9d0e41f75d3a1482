// Remembers, for all processes, up to where a replica must have replayed the log so that a caller finds what he has written.
import type { Sql } from '@referrer/database'
import { createLoader } from '@referrer/process'

export interface Positions {
  /** Call it after the write was committed and before it is acknowledged. */
  wrote(callers: readonly string[]): Promise<void>
  /** The position that a replica needs to serve somebody who is all of these callers; 0: any replica will do. */
  neededBy(callers: readonly string[]): Promise<bigint>
  forgetOld(): Promise<void>
}

/** `maxLagSeconds`: replicas that lag more are not used, so an older write is on each of them. */
export function createPositions(primary: Sql, maxLagSeconds: number): Positions {
  const keptSeconds = 2 * maxLagSeconds
  const write = createLoader<string, void>({
    keyOf: (caller) => caller,
    // One statement for all who write at the same time; sorted, so that two processes never wait for each other's rows in a circle.
    load: async (callers) => {
      await primary`
        INSERT INTO jobs.caller_positions AS p (caller, position, written_at)
        SELECT caller, pg_current_wal_insert_lsn(), clock_timestamp() FROM unnest(${callers.toSorted()}::text[]) AS caller
        ON CONFLICT (caller) DO UPDATE SET
          position = greatest(p.position, excluded.position), written_at = greatest(p.written_at, excluded.written_at)`
      return []
    },
  })
  const read = createLoader<string, bigint>({
    keyOf: (caller) => caller,
    concurrency: 2,
    load: async (callers) => {
      const rows = await primary<{ caller: string; position: bigint }[]>`
        SELECT caller, position - '0/0' AS position FROM jobs.caller_positions
        WHERE caller = ANY(${callers}::text[]) AND written_at > now() - make_interval(secs => ${keptSeconds}::float8)`
      const found = new Map(rows.map(({ caller, position }) => [caller, position]))
      return callers.map((caller) => found.get(caller) ?? 0n)
    },
  })
  return {
    async wrote(callers) {
      await Promise.all(callers.map(write))
    },
    async neededBy(callers) {
      const positions = await Promise.all(callers.map(read))
      return positions.toSorted((a, b) => Number(b - a))[0] ?? 0n
    },
    async forgetOld() {
      await primary`
        DELETE FROM jobs.caller_positions WHERE written_at < now() - make_interval(secs => ${keptSeconds}::float8)`
    },
  }
}
