import type { ReferralEndpoint } from './endpoint.ts'

type RouteHandler = (request: Request) => Promise<Response>

/** In a `route.ts`: `export const { GET, POST } = nextHandlers(endpoint)` */
export function nextHandlers(endpoint: ReferralEndpoint): { GET: RouteHandler; POST: RouteHandler } {
  return { GET: endpoint.fetch, POST: endpoint.fetch }
}
