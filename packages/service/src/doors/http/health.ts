import { sharedQuestion } from '@referrer/process'
import type { FastifyInstance } from 'fastify'
import { type SearchState, searchState } from '../../discovery/memory-index/client.ts'
import { type Check, checkChain } from '../../kit/chain-check.ts'
import type { Context } from '../../kit/context.ts'

const DATABASE_TIMEOUT_MS = 2_000
/**
 * How long `/readyz` waits for the first load of the search index. After that the service is ready: discovery answers by ranks without it.
 */
const LONGEST_LOAD_SECONDS = 120

/** Adds `/healthz` (the process runs) and `/readyz` (its answers are current). */
export function healthRoutes(app: FastifyInstance, context: Context): void {
  app.get('/healthz', () => ({ status: 'ok' }))

  const askDatabase = sharedQuestion(DATABASE_TIMEOUT_MS, async () => {
    await context.sql`SELECT 1`
    return context.chainHealth()
  })
  app.get('/readyz', async (request, reply) => {
    const checks: Record<string, Check> = { database: { ok: true, detail: 'answers' } }
    const chains = await askDatabase().catch((err) => {
      request.log.warn({ reqId: request.id, err }, 'the database does not answer')
      checks.database = { ok: false, detail: 'does not answer' }
      return []
    })
    const health = new Map(chains.map((chain) => [chain.chainId, chain]))
    for (const chain of context.config.chains) {
      checks[`chain ${chain.chainId}`] = checkChain(health.get(chain.chainId), chain, context)
    }
    const search = searchState(context)
    if (search.isKept) checks.search = checkSearch(search)
    const isReady = Object.values(checks).every(({ ok }) => ok)
    const workers = context.workerHealth().map(({ name, state, restarts }) => ({ name, state, restarts }))
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not ready', checks, workers })
  })
}

function checkSearch({ standing, wasLoaded, ageSeconds }: SearchState): Check {
  if (standing) return { ok: true, detail: `${Math.round(ageSeconds)} s behind` }
  return {
    ok: wasLoaded || ageSeconds > LONGEST_LOAD_SECONDS,
    detail: `not loaded for ${Math.round(ageSeconds)} s; discovery goes by ranks`,
  }
}
