import type { ReferralEndpoint } from './endpoint.ts'

/** `app.on(['GET', 'POST'], '/buy', honoHandler(endpoint))` */
export function honoHandler(endpoint: ReferralEndpoint) {
  return (context: { req: { raw: Request } }): Promise<Response> => endpoint.fetch(context.req.raw)
}
