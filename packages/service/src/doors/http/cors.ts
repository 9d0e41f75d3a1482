import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../kit/context.ts'
import { isPublic, type Route, urlOf } from '../../kit/route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether web pages of any origin may call the route: it is a public read. Other routes are for the console's origins only. */
    isPublic?: boolean
  }
}

const ALLOWED_HEADERS =
  'content-type, authorization, x-agent-timestamp, x-agent-signature, x-request-id, a2a-version'
const EXPOSED_HEADERS = 'x-request-id, retry-after'
const PREFLIGHT_SECONDS = '600'

/** Adds the CORS headers and preflight routes. */
export function cors(app: FastifyInstance, { config }: Context, routes: readonly Route[]): void {
  const consoles = new Set(config.consoleOrigins)

  function allow({ headers: { origin } }: FastifyRequest, reply: FastifyReply, isPublic: boolean): boolean {
    if (isPublic) reply.header('access-control-allow-origin', '*')
    else {
      reply.header('vary', 'Origin')
      if (!origin || !consoles.has(origin)) return false
      reply.header('access-control-allow-origin', origin)
    }
    return true
  }

  app.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS') {
      const isAllowed = allow(request, reply, request.routeOptions.config.isPublic ?? false)
      if (isAllowed && request.headers.origin) reply.header('access-control-expose-headers', EXPOSED_HEADERS)
    }
    done()
  })

  for (const [path, onPath] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = onPath.map(({ method }) => method)
    const publics = onPath.filter(isPublic).map(({ method }) => method as string)
    app.options(urlOf({ path }), async (request, reply) => {
      const isOpen = publics.includes(request.headers['access-control-request-method'] ?? '')
      if (allow(request, reply, isOpen)) {
        reply
          .header('access-control-allow-methods', (isOpen ? publics : methods).join(', '))
          .header('access-control-allow-headers', ALLOWED_HEADERS)
          .header('access-control-max-age', PREFLIGHT_SECONDS)
      }
      return reply.code(204).send()
    })
  }
}
