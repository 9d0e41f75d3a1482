import type { Console } from '@referrer/console'
import {
  followRequests,
  measureRequests,
  metricsRoute,
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
import { USUAL_BODY } from '../../kit/body-limits.ts'
import type { Context } from '../../kit/context.ts'
import { NOT_FOUND_PAGE, PAGE_HEADERS, renderErrorPage } from '../../kit/html.ts'
import type { Route } from '../../kit/route.ts'
import type { Tool } from '../../kit/tool.ts'
import { a2aRoutes } from '../a2a/http.ts'
import type { Hook } from '../chat/reception.ts'
import { type ConsoleDoor, consoleRoutes } from '../console/http.ts'
import { createCallerCheck } from '../mcp/caller-check.ts'
import { createCalls } from '../mcp/calls.ts'
import { mcpRoutes } from '../mcp/http.ts'
import { cors } from './cors.ts'
import { healthRoutes } from './health.ts'
import { limitHeldMemory } from './held-memory.ts'
import { costOf, limit } from './limits.ts'
import { llmsRoute } from './llms.ts'
import { describeRoutes } from './openapi.ts'
import { ownRoutesWith } from './own-routes.ts'
import { SILENCE_MS, serveRoute } from './serve.ts'

/** Version of the REST interface. */
const VERSION = '1'
/** Time limit for receiving a whole request, so that a slow caller cannot hold a connection for ever. */
const REQUEST_TIMEOUT_MS = 60_000

const EMPTY = Buffer.alloc(0)

/** Texts for requests that Fastify itself refuses. Any other error here is an internal error. */
const REFUSALS = new Map([
  [400, 'bad request'],
  [413, 'request body too large'],
  [415, 'unsupported content type'],
])

/** Routes without a rate limit, because monitoring polls them every few seconds. */
const UNLIMITED = new Set(['/healthz', '/readyz', '/metrics'])

/** What the HTTP door serves. */
export interface Served {
  routes: readonly Route[]
  tools: readonly Tool[]
  /** Paths that messengers post to. */
  hooks?: readonly Hook[]
  metrics: RequestMetrics
  /** The web console; without it people see no pages but those of ref links. */
  console?: Console | undefined
}

/** Creates the HTTP server with all routes and the MCP endpoint; without the role `api` it only tells how the process is. */
export function createApp(
  context: Context,
  { routes: all, tools, hooks = [], metrics, console }: Served,
): FastifyInstance {
  const isApi = context.config.roles.has('api')
  const routes = isApi ? all.filter(({ isServed }) => isServed?.(context.config) ?? true) : []
  const log: FastifyBaseLogger = context.log
  const { trustedProxies, rateLimit, answerTimeoutMs } = context.config
  const app = Fastify({
    loggerInstance: log,
    logController: new RequestLog(context.log),
    bodyLimit: USUAL_BODY.bytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: answerTimeoutMs + SILENCE_MS,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    // Long parameters must reach the validators, which refuse them with the right text.
    routerOptions: { maxParamLength: 16_384 },
    genReqId: requestIdOf,
    frameworkErrors: (error, request, reply) => refuse(error, request, reply),
    clientErrorHandler: (error, socket) => refuseConnection(error, socket),
  })
  app.setErrorHandler(refuse)
  app.setNotFoundHandler((request, reply) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead && pages?.isFor(request)) return pages.send(request, reply)
    return tell(request, reply.code(404), 'not found')
  })
  // There is no child logger for each request, because creating one costs more than its line.
  app.setChildLoggerFactory((logger) => logger)
  followRequests(app, context.tracing)
  // Bodies stay buffers, whatever their content type, because signatures cover the exact bytes.
  app.removeAllContentTypeParsers()
  // The most common type is registered by name, because Fastify parses the header of other types for each request.
  for (const type of ['application/json', '*']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  }

  cors(app, context, routes)
  const limiter = context.limits.limiter('http', rateLimit)
  app.addHook('onRequest', (request, reply, done) => {
    const isFree = UNLIMITED.has(request.routeOptions.url ?? '') || pages?.isOwn(request)
    if (isFree) done()
    else limit(limiter, request, reply, done)
  })
  // Before the body is parsed. What was sent is counted, also where nobody announced it.
  app.addHook('preValidation', (request, reply, done) => {
    const cost = costOf(request)
    if (cost === 0) done()
    else limit(limiter, request, reply, done, cost)
  })
  limitHeldMemory(app)

  measureRequests(app, metrics)
  const hasMetrics = context.config.metrics === undefined
  if (hasMetrics) metricsRoute(app, metrics)
  healthRoutes(app, context)
  const pages = isApi ? serveApi() : undefined
  return app

  function serveApi(): ConsoleDoor | undefined {
    const about = { baseUrl: context.config.publicUrl, version: VERSION }
    docsRoutes(app, () => describeRoutes([...routes, ...ownRoutesWith({ hasMetrics })], about), {
      config: { isPublic: true },
    })
    for (const route of routes) serveRoute(app, context, route)
    llmsRoute(app, context, { hasPages: console !== undefined })
    for (const { path, bodyLimit = USUAL_BODY.bytes, handle } of hooks) {
      app.post(path, { bodyLimit }, async ({ headers, body }, reply) => {
        const answer = await handle({ headers, body: Buffer.isBuffer(body) ? body : EMPTY })
        return reply.code(answer.status).send(answer.body)
      })
    }
    // One for both doors, so that a client has one limit for each tool.
    const forPrograms = {
      tools,
      callTool: createCalls(context, tools),
      problemOf: createCallerCheck(context),
    }
    mcpRoutes(app, context, forPrograms)
    a2aRoutes(app, context, forPrograms)
    return console && consoleRoutes(app, console, context)
  }

  function refuse(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
    const isOwn = typeof error.code === 'string' && error.code.startsWith('FST_')
    const isCutShort = error.code === 'ECONNRESET' && !request.raw.complete
    const text = isOwn || isCutShort ? REFUSALS.get(error.statusCode ?? 500) : undefined
    if (text !== undefined) return tell(request, reply.code(error.statusCode ?? 500), text)
    request.log.error({ reqId: request.id, err: error }, 'a request failed')
    return reply.code(500).send({ error: 'internal error' })
  }

  /** Sends an error: an HTML page to a browser's GET, else JSON. */
  function tell({ method, headers }: FastifyRequest, reply: FastifyReply, error: string) {
    if (method !== 'GET' || !prefersHtml(headers.accept)) return reply.send({ error })
    return reply.headers(PAGE_HEADERS).send(renderErrorPage(NOT_FOUND_PAGE, context.config.publicUrl))
  }
}
