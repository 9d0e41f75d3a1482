import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ReferralEndpoint } from './endpoint.ts'
import { answer, send } from './node-http.ts'

type ExpressRequest = IncomingMessage & {
  originalUrl: string
  protocol: string
  body?: unknown
}

/**
 * `app.all('/buy', expressHandler(endpoint))`, before or after body parsers.
 *
 * @example
 * ```ts
 * import type { ReferralEndpoint } from '@referrer/merchant'
 * import { expressHandler } from '@referrer/merchant/express'
 * import express from 'express'
 *
 * declare const endpoint: ReferralEndpoint
 * express().all('/jokes', expressHandler(endpoint)).listen(3000)
 * ```
 */
export function expressHandler(endpoint: ReferralEndpoint) {
  return async (request: ExpressRequest, response: ServerResponse): Promise<void> => {
    const { originalUrl, protocol, body } = request
    await send(await answer(endpoint, request, response, { originalUrl, protocol, body }), response)
  }
}
