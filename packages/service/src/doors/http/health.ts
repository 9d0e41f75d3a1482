import { sharedQuestion } from '@referrer/process'
import type { FastifyInstance } from 'fastify'
import { type SearchState, searchState } from '../../discovery/memory-index/client.ts'
import { type Check, checkChain } from '../../kit/chain-check.ts'
import { type ChainHealth, type Context, once } from '../../kit/context.ts'
import type { ReplicaState } from '../../machinery/replicas/replicas.ts'

const DATABASE_TIMEOUT_MS = 2_000
/**
 * How long `/readyz` waits for the first load of the search index. After that the service is ready: discovery answers by ranks without it.
 */
const LONGEST_LOAD_SECONDS = 120

export interface Readiness {
  isReady: boolean
  checks: Record<string, Check>
}

/** Whether the answers of this process are current. */
export const readinessOf = once((context) => {
  const askDatabase = sharedQuestion(DATABASE_TIMEOUT_MS, async () => {
    await context.sql`SELECT 1`
    return context.chainHealth()
  })
  return async (): Promise<Readiness> => {
    const checks: Record<string, Check> = { database: { ok: true, detail: 'answers' } }
    const chains = await askDatabase().catch((err) => {
      context.log.warn({ err }, 'the database does not answer')
      checks.database = { ok: false, detail: 'does not answer' }
      return []
    })
    // What is read from a replica is as much older as the replica lags behind.
    const replicas = context.replicas?.states() ?? []
    const behind = Math.max(0, ...replicas.map(({ isUsed, lagSeconds = 0 }) => (isUsed ? lagSeconds : 0)))
    const health = new Map(chains.map((chain) => [chain.chainId, servedOf(chain, behind)]))
    const judged = context.config.chains.map(
      async (chain) =>
        [`chain ${chain.chainId}`, await checkChain(health.get(chain.chainId), chain, context)] as const,
    )
    Object.assign(checks, Object.fromEntries(await Promise.all(judged)))
    const search = searchState(context)
    if (search.isKept) checks.search = checkSearch(search)
    for (const [at, state] of replicas.entries()) checks[`replica ${at + 1}`] = describeReplica(state)
    return { isReady: Object.values(checks).every(({ ok }) => ok), checks }
  }
})

/** Adds `/healthz` (the process runs) and `/readyz` (its answers are current). */
export function healthRoutes(app: FastifyInstance, context: Context): void {
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const { isReady, checks } = await readinessOf(context)()
    const workers = context.workerHealth().map(({ name, state, restarts }) => ({ name, state, restarts }))
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not ready', checks, workers })
  })
}

const servedOf = (chain: ChainHealth, behind: number): ChainHealth => ({
  ...chain,
  lagSeconds: chain.lagSeconds === null ? null : chain.lagSeconds + behind,
})

/** Never fails the service, whose primary serves what a replica does not. */
function describeReplica({ isUsed, lagSeconds }: ReplicaState): Check {
  if (lagSeconds === undefined) return { ok: true, detail: 'not used: it does not answer, or lags too far' }
  return { ok: true, detail: `${isUsed ? '' : 'not used: '}${lagSeconds.toFixed(1)} s behind` }
}

function checkSearch({ standing, wasLoaded, ageSeconds }: SearchState): Check {
  if (standing) return { ok: true, detail: `${Math.round(ageSeconds)} s behind` }
  return {
    ok: wasLoaded || ageSeconds > LONGEST_LOAD_SECONDS,
    detail: `not loaded for ${Math.round(ageSeconds)} s; discovery goes by ranks`,
  }
}
