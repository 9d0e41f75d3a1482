import type { FastifyInstance } from 'fastify'
import type { ChainHealth, Context } from '../context.ts'
import { answerWithin } from './deadline.ts'

interface Check {
  ok: boolean
  detail: string
}

const DATABASE_PATIENCE_MS = 2_000

/** `/healthz`: the process lives. `/readyz`: what it answers is worth having. */
export function healthRoutes(app: FastifyInstance, context: Context): void {
  app.get('/healthz', () => ({ status: 'ok' }))

  let database: Promise<Check> | undefined
  app.get('/readyz', async (_request, reply) => {
    // However many ask, one question is under way.
    database ??= checkDatabase(context).finally(() => {
      database = undefined
    })
    const checks: Record<string, Check> = { database: await database }
    const health = new Map(context.chainHealth().map((chain) => [chain.chainId, chain]))
    for (const { chainId } of context.config.chains) {
      checks[`chain ${chainId}`] = checkChain(health.get(chainId), context)
    }
    const isReady = Object.values(checks).every(({ ok }) => ok)
    const workers = context.workerHealth().map(({ name, state, restarts }) => ({ name, state, restarts }))
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not ready', checks, workers })
  })
}

async function checkDatabase({ sql, log }: Context): Promise<Check> {
  try {
    await answerWithin(DATABASE_PATIENCE_MS, sql`SELECT 1`)
    return { ok: true, detail: 'answers' }
  } catch (err) {
    log.warn({ err }, 'the database does not answer')
    return { ok: false, detail: 'does not answer' }
  }
}

function checkChain(chain: ChainHealth | undefined, { config }: Context): Check {
  if (!chain) return { ok: false, detail: 'not followed yet' }
  const { head, indexed, lagSeconds, error } = chain
  if (error !== null) return { ok: false, detail: withoutUrls(error) }
  if (head === null || indexed === null || lagSeconds === null)
    return { ok: false, detail: 'nothing recorded yet' }
  const lagBlocks = head > indexed ? head - indexed : 0n
  const isTooOld = lagSeconds > config.maxLagSeconds
  const isTooFar = config.maxLagBlocks !== undefined && lagBlocks > config.maxLagBlocks
  const lag = `${lagBlocks} blocks, ${Math.round(lagSeconds)} s behind`
  return isTooOld || isTooFar ? { ok: false, detail: `${lag}: too far` } : { ok: true, detail: lag }
}

/** Keeps of a URL only the host: the rest may hold a key. */
function withoutUrls(text: string): string {
  return text.replace(/\w+:\/\/\S+/g, (url) => URL.parse(url)?.host || '[url]')
}
