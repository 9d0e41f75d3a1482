import { type ChainConfig, sharedQuestion } from '@referrer/process'
import type { FastifyInstance } from 'fastify'
import { type SearchState, searchState } from '../../discovery/memory-index/client.ts'
import type { ChainHealth, Context } from '../../kit/context.ts'

interface Check {
  ok: boolean
  detail: string
}

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

function checkChain(
  chain: ChainHealth | undefined,
  { maxHeadAgeSeconds }: ChainConfig,
  { config }: Context,
): Check {
  if (!chain) return { ok: false, detail: 'not followed yet' }
  const { head, indexed, lagSeconds, headAgeSeconds, error } = chain
  // An error of a node is only shown. The check fails when the index lags too far behind.
  const trouble = error === null ? '' : `; ${withoutUrls(error)}`
  if (head === null || indexed === null || lagSeconds === null)
    return { ok: false, detail: `nothing recorded yet${trouble}` }
  const lagBlocks = head > indexed ? head - indexed : 0n
  const isTooOld = lagSeconds > config.maxLagSeconds
  const isTooFar = config.maxLagBlocks !== undefined && lagBlocks > config.maxLagBlocks
  const lag = `${lagBlocks} blocks, ${Math.round(lagSeconds)} s behind`
  const stands = headAgeSeconds !== null && headAgeSeconds > (maxHeadAgeSeconds ?? Number.POSITIVE_INFINITY)
  const far = isTooOld || isTooFar ? ': too far' : ''
  const still = stands ? `; the newest block is ${Math.round(headAgeSeconds)} s old` : ''
  return { ok: !far && !still, detail: `${lag}${far}${still}${trouble}` }
}

/** Replaces each URL by its host, because the rest may hold an API key. */
function withoutUrls(text: string): string {
  return text.replace(/\w+:\/\/\S+/g, (url) => URL.parse(url)?.host || '[url]')
}
