import { createEndpoint, type RequestOptions, type RpcEndpoint } from './endpoint.ts'
import { RpcError } from './error.ts'

export interface RpcPoolOptions {
  chainId: number
  /** The first is preferred; the others stand in. */
  urls: string[]
  timeoutMs?: number
  fetch?: typeof fetch
  now?: () => number
}

/** Several nodes of one chain. A node that fails rests for a while, longer each time. */
export interface RpcPool {
  readonly chainId: number
  readonly endpoints: readonly RpcEndpoint[]
  /** On the best endpoint, then on the others; the error of the last when all fail. */
  request<T>(method: string, params: unknown[], options?: RequestOptions): Promise<T>
  /** All of them, those that work first. */
  ranked(): RpcEndpoint[]
  /** Those that do not rest; at least one. */
  awake(): RpcEndpoint[]
  /** For what only the caller can see: an endpoint that lags behind, or contradicts itself or the others, though it answers. */
  rest(endpoint: RpcEndpoint, error?: unknown): void
}

const FIRST_REST_MS = 250
const LONGEST_REST_MS = 30_000
/** An answer proves that a node works, not that it tells the truth: that takes time. */
const TRUSTED_AGAIN_AFTER_MS = 300_000

interface Health {
  failures: number
  doubts: number
  doubtedAt: number
  restUntil: number
}

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
    const state: Health = { failures: 0, doubts: 0, doubtedAt: 0, restUntil: 0 }
    const watch = async <T>(call: Promise<T>): Promise<T> => {
      try {
        const answer = await call
        state.failures = 0
        return answer
      } catch (error) {
        if (error instanceof RpcError && error.kind !== 'refused') rest(self, error)
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

  function rest(endpoint: RpcEndpoint, error?: unknown): void {
    const state = health.get(endpoint)
    if (!state || (error instanceof RpcError && error.kind === 'reverted')) return
    const asked = error instanceof RpcError ? error.retryAfterMs : undefined
    const before = error === undefined ? doubt(state) : state.failures++
    const pause = asked ?? FIRST_REST_MS * 2 ** Math.min(before, 20)
    state.restUntil = now() + Math.min(pause, LONGEST_REST_MS)
  }

  /** How often it was doubted before. */
  function doubt(state: Health): number {
    if (now() - state.doubtedAt > TRUSTED_AGAIN_AFTER_MS) state.doubts = 0
    state.doubtedAt = now()
    return state.doubts++
  }

  const restLeft = (endpoint: RpcEndpoint) => Math.max(0, (health.get(endpoint)?.restUntil ?? 0) - now())

  function ranked(): RpcEndpoint[] {
    return endpoints
      .map((endpoint, index) => ({ endpoint, index, left: restLeft(endpoint) }))
      .sort((a, b) => a.left - b.left || a.index - b.index)
      .map(({ endpoint }) => endpoint)
  }

  function awake(): RpcEndpoint[] {
    const working = endpoints.filter((endpoint) => restLeft(endpoint) === 0)
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

  return { chainId, endpoints, request, ranked, awake, rest }
}
