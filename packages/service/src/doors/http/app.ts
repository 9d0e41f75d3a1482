import { createLimiter } from '@referrer/net'
import {
  metricsRoutes,
  RequestLog,
  type RequestMetrics,
  refuseConnection,
  requestIdOf,
} from '@referrer/process'
import { docsRoutes } from '@referrer/process/openapi'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { prefersHtml } from '../../kit/accept.ts'
import type { Context } from '../../kit/context.ts'
import { NOTHING_HERE, PAGE_HEADERS, renderApology } from '../../kit/html.ts'
import type { Route } from '../../kit/route.ts'
import type { Tool } from '../../kit/tool.ts'
import { mcpRoutes } from '../mcp/http.ts'
import { cors } from './cors.ts'
import { healthRoutes } from './health.ts'
import { limitHeld } from './held.ts'
import { limit } from './limits.ts'
import { describeRoutes } from './openapi.ts'
import { ownRoutes } from './own-routes.ts'
import { SILENCE_MS, serveRoute } from './serve.ts'

/** Of the interface. */
const VERSION = '1'
const BODY_LIMIT = 2 * 1024 * 1024
/** To send a whole request. Without it a caller can hold a connection for ever. */
const REQUEST_PATIENCE_MS = 60_000

/** What Fastify refuses by itself. Everything else that is thrown is an internal error. */
const REFUSALS = new Map([
  [400, 'bad request'],
  [413, 'request body too large'],
  [415, 'unsupported content type'],
])

/** Asked every few seconds by machines, which must not be turned away. */
const UNLIMITED = new Set(['/healthz', '/readyz', '/metrics'])

/** What the door leads to. */
export interface Behind {
  routes: readonly Route[]
  tools: readonly Tool[]
  metrics: RequestMetrics
}

/** The HTTP door. */
export function createApp(context: Context, { routes, tools, metrics }: Behind): FastifyInstance {
  const log: FastifyBaseLogger = context.log
  const { trustedProxies, rateLimit, answerTimeoutMs } = context.config
  const app = Fastify({
    loggerInstance: log,
    logController: new RequestLog(context.log),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_PATIENCE_MS,
    connectionTimeout: answerTimeoutMs + SILENCE_MS,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    // An id of any length is an id that does not fit.
    routerOptions: { maxParamLength: 16_384 },
    genReqId: requestIdOf,
    frameworkErrors: (error, request, reply) => refuse(error, request, reply),
    clientErrorHandler: (error, socket) => refuseConnection(error, socket),
  })
  app.setErrorHandler(refuse)
  app.setNotFoundHandler((request, reply) => tell(request, reply.code(404), 'not found'))
  // A logger for each request would cost more than its line: those that log name the request themselves.
  app.setChildLoggerFactory((logger) => logger)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  // Signatures cover the exact bytes, so these are what arrives, whatever the sender calls them.
  app.removeAllContentTypeParsers()
  // The type that almost everybody sends is looked up by its name: of the others Fastify takes the header apart each time.
  for (const type of ['application/json', '*']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  }

  cors(app, context, routes)
  const limiter = createLimiter(rateLimit)
  app.addHook('onRequest', (request, reply, done) => {
    const isFree = UNLIMITED.has(request.routeOptions.url ?? '')
    if (isFree || limit(limiter, context, request, reply)) done()
  })
  limitHeld(app, BODY_LIMIT)

  metricsRoutes(app, metrics)
  healthRoutes(app, context)
  const about = { baseUrl: context.config.publicUrl, version: VERSION }
  docsRoutes(app, describeRoutes([...routes, ...ownRoutes], about), { config: { isPublic: true } })
  for (const route of routes) serveRoute(app, context, route)
  mcpRoutes(app, context, tools)
  return app

  function refuse(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
    const isOwn = typeof error.code === 'string' && error.code.startsWith('FST_')
    const isCutShort = error.code === 'ECONNRESET' && !request.raw.complete
    const text = isOwn || isCutShort ? REFUSALS.get(error.statusCode ?? 500) : undefined
    if (text !== undefined) return tell(request, reply.code(error.statusCode ?? 500), text)
    request.log.error({ reqId: request.id, err: error }, 'a request failed')
    return reply.code(500).send({ error: 'internal error' })
  }

  /** A browser that asked for an address that is none gets a page. */
  function tell({ method, headers }: FastifyRequest, reply: FastifyReply, error: string) {
    if (method !== 'GET' || !prefersHtml(headers.accept)) return reply.send({ error })
    return reply.headers(PAGE_HEADERS).send(renderApology(NOTHING_HERE, context.config.publicUrl))
  }
}
