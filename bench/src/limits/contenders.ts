import { connect } from '@referrer/database'
import { createLog, memoryLimits, openLimits, type Rate } from '@referrer/process'

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

export async function openContenders(databaseUrl: string): Promise<Contender[]> {
  const common = { program: 'bench', databaseUrl, clock: Date.now, log }
  const limits = await openLimits({ store: 'postgres', timeoutMs: 10_000 }, common)
  const memory = memoryLimits(Date.now)
  return [
    { name: 'memory', limiter: (rate) => memory.limiter('', rate), close: async () => {} },
    {
      name: 'postgres',
      beside: 'postgres, one question a request',
      limiter: (rate) => limits.limiter(String(rate.burst), rate),
      close: () => limits.close(),
    },
    naivePostgres(databaseUrl),
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
