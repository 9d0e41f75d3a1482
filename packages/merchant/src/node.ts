import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ReferralEndpoint } from './endpoint.ts'
import { answer, send } from './node-http.ts'

export { fileStore } from './file-store.ts'

/**
 * A request listener for `http.createServer`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import type { ReferralEndpoint } from '@referrer/merchant'
 * import { nodeHandler } from '@referrer/merchant/node'
 *
 * declare const endpoint: ReferralEndpoint
 * createServer(nodeHandler(endpoint)).listen(3000)
 * ```
 */
export function nodeHandler(endpoint: ReferralEndpoint) {
  return async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> =>
    send(await answer(endpoint, incoming, outgoing), outgoing)
}
