import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { createAsking } from './asking.ts'
import type { Rate } from './bucket.ts'
import { createLimiter } from './local.ts'
import { createPostgresStore } from './postgres.ts'
import { createSharedLimiter } from './shared.ts'

/**
 * Takes tokens of a client, one unless the request costs more; returns how many seconds it must wait, 0 when it may go on. It never rejects.
 * What costs more than the whole burst takes the burst.
 */
export type Limiter = (client: string, cost?: number) => number | Promise<number>

/** The rate limits of a program. */
export interface Limits {
  /** The name tells the limits of a program apart; all replicas use the same. */
  limiter(name: string, rate: Rate): Limiter
  /** Whether the store that replicas share answers; always true where there is none. */
  isUp(): boolean
  close(): Promise<void>
}

/** Where limits are counted: in the database, or in each process alone. */
export interface LimitsConfig {
  store: 'postgres' | 'memory'
  /** How long a request waits for the store. */
  timeoutMs: number
}

export interface OpenLimits {
  /** The name of the program: several may use one store. */
  program: string
  databaseUrl: string
  clock: () => number
  /** Instead of the clock of the store, for tests. */
  storeClock?: (() => number) | undefined
  log: Logger
}

/** Longer names of clients are hashed, so that keys have a bounded length. */
const LONGEST_NAME = 64

/** Opens the limits. A store that does not answer is no reason not to start: until it does, this process counts alone. */
export async function openLimits(
  { store: where, timeoutMs }: LimitsConfig,
  { program, databaseUrl, clock, storeClock, log }: OpenLimits,
): Promise<Limits> {
  if (where === 'memory') return memoryLimits(clock)
  const store = createPostgresStore(databaseUrl, { clock: storeClock, log })
  const asking = await createAsking(store, { timeoutMs, log })
  return {
    limiter(name, rate) {
      const limiter = createSharedLimiter(`referrer ${program} ${name}`, rate, { asking, clock })
      return (client, cost) => limiter(client.length > LONGEST_NAME ? digest(client) : client, cost)
    },
    isUp: () => asking.isUp(),
    close: () => asking.close(),
  }
}

/** Limits of one process alone. */
export const memoryLimits = (clock: () => number): Limits => ({
  limiter(_name, rate) {
    const limiter = createLimiter(rate)
    return (client, cost) => limiter(client, clock(), cost)
  },
  isUp: () => true,
  close: async () => {},
})

const digest = (text: string) => createHash('sha256').update(text).digest('base64url')
