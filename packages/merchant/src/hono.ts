import type { ReferralEndpoint } from './endpoint.ts'

/**
 * `app.on(['GET', 'POST'], '/buy', honoHandler(endpoint))`
 *
 * @example
 * ```ts
 * import type { ReferralEndpoint } from '@referrer/merchant'
 * import { honoHandler } from '@referrer/merchant/hono'
 * import { Hono } from 'hono'
 *
 * declare const endpoint: ReferralEndpoint
 * export default new Hono().on(['GET', 'POST'], '/jokes', honoHandler(endpoint))
 * ```
 */
export function honoHandler(endpoint: ReferralEndpoint) {
  return (context: { req: { raw: Request } }): Promise<Response> => endpoint.fetch(context.req.raw)
}
