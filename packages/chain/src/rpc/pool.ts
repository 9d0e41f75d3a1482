import { createEndpoint, type RequestOptions, type RpcEndpoint } from './endpoint.ts'
import { RpcError, type RpcErrorKind } from './error.ts'

export interface RpcPoolOptions {
  chainId: number
  /** The first is preferred; the others are fallbacks. */
  urls: string[]
  timeoutMs?: number
  fetch?: typeof fetch
  now?: () => number
}

/** What became of a call; `reported`: a caller found the answer to be wrong or old. */
export type CallOutcome = 'answered' | 'reported' | RpcErrorKind

export interface EndpointHealth {
  name: string
  /** False while it backs off. */
  isUsable: boolean
  /** How many calls of this process had each outcome. */
  outcomes: Readonly<Record<CallOutcome, number>>
}

/** Several nodes of one chain. A node that fails is not used for a while, longer each time (exponential backoff). */
export interface RpcPool {
  readonly chainId: number
  readonly endpoints: readonly RpcEndpoint[]
  /** Asks the best endpoint, then the others; throws the error of the last when all fail. */
  request<T>(method: string, params: unknown[], options?: RequestOptions): Promise<T>
  /** All of them, those that work first. */
  ranked(): RpcEndpoint[]
  /** The endpoints that are not backing off; at least one. */
  available(): RpcEndpoint[]
  /** Reports an endpoint that answers, but lags or contradicts itself or others, which only the caller can see. */
  backOff(endpoint: RpcEndpoint, error?: unknown): void
  health(): EndpointHealth[]
}

const FIRST_BACKOFF_MS = 250
const LONGEST_BACKOFF_MS = 30_000
/** Reports are forgotten after this time without a new one. A plain answer does not clear them: it does not prove that the data is right. */
const FORGET_REPORTS_AFTER_MS = 300_000

interface Health {
  failures: number
  reports: number
  reportedAt: number
  backOffUntil: number
  outcomes: Record<CallOutcome, number>
}

const noCalls = (): Record<CallOutcome, number> => ({
  answered: 0,
  reported: 0,
  timeout: 0,
  transport: 0,
  'rate-limited': 0,
  reverted: 0,
  refused: 0,
  'wrong-chain': 0,
})

export function createRpcPool({
  chainId,
  urls,
  timeoutMs = 10_000,
  fetch: send = fetch,
  now = Date.now,
}: RpcPoolOptions): RpcPool {
  if (urls.length === 0) throw new Error(`chain ${chainId} needs at least one RPC URL`)
  const health = new Map<RpcEndpoint, Health>()
  const endpoints = urls.map((url) => watched(createEndpoint({ url, chainId, timeoutMs, fetch: send })))

  function watched(endpoint: RpcEndpoint): RpcEndpoint {
    const state: Health = { failures: 0, reports: 0, reportedAt: 0, backOffUntil: 0, outcomes: noCalls() }
    const watch = async <T>(call: Promise<T>): Promise<T> => {
      try {
        const answer = await call
        state.failures = 0
        state.outcomes.answered += 1
        return answer
      } catch (error) {
        if (error instanceof RpcError) {
          state.outcomes[error.kind] += 1
          if (error.kind !== 'refused') backOff(self, error)
        }
        throw error
      }
    }
    const self: RpcEndpoint = {
      name: endpoint.name,
      request: (method, params, options) => watch(endpoint.request(method, params, options)),
      batch: (calls, options) => watch(endpoint.batch(calls, options)),
    }
    health.set(self, state)
    return self
  }

  function backOff(endpoint: RpcEndpoint, error?: unknown): void {
    const state = health.get(endpoint)
    if (!state || (error instanceof RpcError && error.kind === 'reverted')) return
    const asked = error instanceof RpcError ? error.retryAfterMs : undefined
    const before = error === undefined ? countReport(state) : state.failures++
    const pause = asked ?? FIRST_BACKOFF_MS * 2 ** Math.min(before, 20)
    state.backOffUntil = now() + Math.min(pause, LONGEST_BACKOFF_MS)
  }

  /** How often it was reported before. */
  function countReport(state: Health): number {
    state.outcomes.reported += 1
    if (now() - state.reportedAt > FORGET_REPORTS_AFTER_MS) state.reports = 0
    state.reportedAt = now()
    return state.reports++
  }

  const backOffLeft = (endpoint: RpcEndpoint) =>
    Math.max(0, (health.get(endpoint)?.backOffUntil ?? 0) - now())

  function ranked(): RpcEndpoint[] {
    return endpoints
      .map((endpoint, index) => ({ endpoint, index, left: backOffLeft(endpoint) }))
      .sort((a, b) => a.left - b.left || a.index - b.index)
      .map(({ endpoint }) => endpoint)
  }

  function available(): RpcEndpoint[] {
    const working = endpoints.filter((endpoint) => backOffLeft(endpoint) === 0)
    return working.length ? working : ranked().slice(0, 1)
  }

  async function request<T>(method: string, params: unknown[], options?: RequestOptions): Promise<T> {
    let last: unknown
    for (const endpoint of ranked()) {
      try {
        return await endpoint.request<T>(method, params, options)
      } catch (error) {
        if (!(error instanceof RpcError) || !error.isRetryable) throw error
        last = error
      }
    }
    throw last
  }

  const healthOf = (endpoint: RpcEndpoint): EndpointHealth[] => {
    const state = health.get(endpoint)
    if (!state) return []
    return [{ name: endpoint.name, isUsable: backOffLeft(endpoint) === 0, outcomes: { ...state.outcomes } }]
  }

  return {
    chainId,
    endpoints,
    request,
    ranked,
    available,
    backOff,
    health: () => endpoints.flatMap(healthOf),
  }
}
