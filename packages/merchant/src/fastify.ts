import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ReferralEndpoint } from './endpoint.ts'
import { answer } from './node-http.ts'

interface FastifyRequest {
  raw: IncomingMessage
  originalUrl: string
  protocol: string
}

interface FastifyInstance {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    contentType: string,
    parser: (
      request: never,
      payload: IncomingMessage,
      done: (error: Error | null, body?: unknown) => void,
    ) => void,
  ): unknown
  route(options: {
    method: string[]
    url: string
    handler(request: FastifyRequest, reply: { raw: ServerResponse }): Promise<Response>
  }): unknown
}

/**
 * `app.register(fastifyReferral, { url: '/buy', endpoint })`. The parsers of the rest of the application stay as they are.
 *
 * @example
 * ```ts
 * import type { ReferralEndpoint } from '@referrer/merchant'
 * import { fastifyReferral } from '@referrer/merchant/fastify'
 * import fastify from 'fastify'
 *
 * declare const endpoint: ReferralEndpoint
 * const app = fastify()
 * app.register(fastifyReferral, { url: '/jokes', endpoint })
 * await app.listen({ port: 3000 })
 * ```
 */
export async function fastifyReferral(
  app: FastifyInstance,
  { url, endpoint }: { url: string; endpoint: ReferralEndpoint },
): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.route({
    method: ['GET', 'POST'],
    url,
    handler: ({ raw, originalUrl, protocol }, reply) =>
      answer(endpoint, raw, reply.raw, { originalUrl, protocol }),
  })
}
