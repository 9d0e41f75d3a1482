import { connect } from '@referrer/database'
import { createLog, memoryLimits, openLimits, type Rate, Secret } from '@referrer/process'
import { createRedisStore } from '@referrer/process/limits/testing'

const log = createLog('warn')

/** Takes a token of a client; 0: it may go on. */
export type Take = (client: string) => number | Promise<number>

export interface Contender {
  name: string
  /** The same store, asked once for each request; ours is compared with it. */
  beside?: string
  limiter(rate: Rate): Take
  close(): Promise<void>
}

export async function openContenders(
  databaseUrl: string,
  redisUrl: string | undefined,
): Promise<Contender[]> {
  const common = { program: 'bench', databaseUrl, clock: Date.now, log }
  const shared = async (name: string, store: 'postgres' | { redisUrl: Secret }): Promise<Contender> => {
    const limits = await openLimits({ store, timeoutMs: 10_000 }, common)
    return {
      name,
      beside: `${name}, one question a request`,
      limiter: (rate) => limits.limiter(String(rate.burst), rate),
      close: () => limits.close(),
    }
  }
  const memory = memoryLimits(Date.now)
  return [
    { name: 'memory', limiter: (rate) => memory.limiter('', rate), close: async () => {} },
    await shared('postgres', 'postgres'),
    naivePostgres(databaseUrl),
    ...(redisUrl ? [await shared('redis', { redisUrl: new Secret(redisUrl) }), naiveRedis(redisUrl)] : []),
  ]
}

/** What one writes first, as rate-limiter-flexible does: an upsert for each request, here too into a table that is not logged. */
function naivePostgres(databaseUrl: string): Contender {
  const sql = connect(databaseUrl, { max: 20, name: 'bench naive' })
  const made = sql`CREATE UNLOGGED TABLE IF NOT EXISTS naive (key text PRIMARY KEY, points integer NOT NULL, expire timestamptz NOT NULL)`
  return {
    name: 'postgres, one question a request',
    limiter:
      ({ perSecond, burst }) =>
      async (client) => {
        await made
        const [row] = await sql<{ points: number }[]>`
          INSERT INTO naive AS n VALUES (${`${burst} ${client}`}, 1, now() + make_interval(secs => ${burst / perSecond}))
          ON CONFLICT (key) DO UPDATE SET points = CASE WHEN n.expire <= now() THEN 1 ELSE n.points + 1 END,
            expire = CASE WHEN n.expire <= now() THEN excluded.expire ELSE n.expire END
          RETURNING points`
        return Number(row?.points) > burst ? 1 : 0
      },
    close: () => sql.end({ timeout: 1 }),
  }
}

/** Our script, asked for each request by itself. */
function naiveRedis(redisUrl: string): Contender {
  const store = createRedisStore(redisUrl)
  return {
    name: 'redis, one question a request',
    limiter: (rate) => async (client) => {
      const [taken] = await store.take([{ key: `naive ${rate.burst} ${client}`, rate, wanted: 1 }])
      return taken?.waitSeconds ?? 0
    },
    close: () => store.close(),
  }
}
