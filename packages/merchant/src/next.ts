import type { ReferralEndpoint } from './endpoint.ts'

type RouteHandler = (request: Request) => Promise<Response>

/**
 * In a `route.ts`: `export const { GET, POST } = nextHandlers(endpoint)`
 *
 * @example
 * ```ts
 * import type { ReferralEndpoint } from '@referrer/merchant'
 * import { nextHandlers } from '@referrer/merchant/next'
 *
 * declare const endpoint: ReferralEndpoint
 * export const { GET, POST } = nextHandlers(endpoint)
 * ```
 */
export function nextHandlers(endpoint: ReferralEndpoint): { GET: RouteHandler; POST: RouteHandler } {
  return { GET: endpoint.fetch, POST: endpoint.fetch }
}
