import { clientOf } from '@referrer/net'
import {
  followRequests,
  measureRequests,
  metricsRoute,
  RequestLog,
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
import type { Context } from '../context.ts'
import type { Settler } from '../settlement/types.ts'
import { chargeRoutes } from './charge.ts'
import { discoveryRoutes } from './discovery.ts'
import { healthRoutes } from './health.ts'
import type { Metrics } from './metrics.ts'
import { describeFacilitator } from './openapi.ts'
import { paymentRoutes } from './payments.ts'
import { HttpRefusal } from './refusal.ts'
import { bodyFor, bodyOf } from './refusal-body.ts'
import { createRequestsInProgress } from './requests-in-progress.ts'
import { settlementRoutes } from './settlements.ts'
import { supportedRoutes } from './supported.ts'

const BODY_LIMIT = 64 * 1024
/** To send a whole request. Without it a caller can hold a connection for ever. */
const REQUEST_PATIENCE_MS = 30_000
/** Beyond the time for an answer: an idle connection is closed after it. */
const SILENCE_MS = 10_000

/** What Fastify refuses by itself. Everything else that is thrown is an internal error. */
const REFUSALS = new Map([
  [400, 'bad request'],
  [413, 'request body too large'],
])

/** Polled by monitoring: no rate limit, and open while stopping. */
const FOR_MACHINES = new Set(['/healthz', '/readyz', '/metrics'])
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export interface Door {
  app: FastifyInstance
  /** Adds the routes of the port for monitoring. */
  monitoringRoutes(app: FastifyInstance): void
  /** From now on no payment is begun; waits until those that have begun have ended. */
  stopTaking(): Promise<void>
}

/** The HTTP door. */
export function createDoor(context: Context, settler: Settler, metrics: Metrics): Door {
  function refuse(error: FastifyError | HttpRefusal, request: FastifyRequest, reply: FastifyReply) {
    const told = toldOf(error, request)
    if (told.retryAfterSeconds !== undefined) reply.header('retry-after', told.retryAfterSeconds)
    return reply.code(told.status).send(bodyFor(context, request, told))
  }

  const log: FastifyBaseLogger = context.log
  const { trustedProxies, rateLimit, answerTimeoutMs } = context.config
  let isStopping = false
  const app = Fastify({
    loggerInstance: log,
    logController: new RequestLog(context.log),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_PATIENCE_MS,
    connectionTimeout: answerTimeoutMs + SILENCE_MS,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    return503OnClosing: false,
    // A payer or nonce that is too long is a 400 of the route, not a 404.
    routerOptions: { maxParamLength: 16_384 },
    genReqId: requestIdOf,
    frameworkErrors: (error, request, reply) => refuse(error, request, reply),
    clientErrorHandler: (error, socket) => refuseConnection(error, socket, bodyOf),
  })
  app.setErrorHandler(refuse)
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send(bodyOf({ status: 404, error: 'not found' })),
  )
  app.setChildLoggerFactory((logger) => logger)
  // Signatures cover the exact bytes, so the body is not parsed, whatever its content type, even an invalid one.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', async ({ raw }) => {
    if (raw.headers['content-type'] !== undefined) raw.headers['content-type'] = 'application/octet-stream'
  })

  followRequests(app, context.tracing)
  const limiter = context.limits.limiter('http', rateLimit)
  app.addHook('onRequest', async (request) => {
    if (FOR_MACHINES.has(request.routeOptions.url ?? '')) return
    const seconds = await limiter(clientOf(request.ip))
    if (seconds > 0) throw new HttpRefusal(429, 'rate limited', { retryAfterSeconds: Math.ceil(seconds) })
    if (isStopping && request.method === 'POST') {
      const error = 'the facilitator is stopping; send the same request again'
      throw new HttpRefusal(503, error, { retryAfterSeconds: 5 })
    }
  })

  const served = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    served.set(url, [...(served.get(url) ?? []), ...[method].flat()])
  })
  measureRequests(app, metrics)
  if (!context.config.metrics) metricsRoute(app, metrics)
  healthRoutes(app, context, () => isStopping)
  docsRoutes(app, () => describeFacilitator(context.config))
  supportedRoutes(app, context)
  discoveryRoutes(app, context)
  const inProgress = createRequestsInProgress(metrics)
  paymentRoutes(app, context, settler, metrics, inProgress)
  chargeRoutes(app, context, settler, metrics, inProgress)
  settlementRoutes(app, context, settler)
  refuseOtherMethods(app, served)
  return {
    app,
    monitoringRoutes(served) {
      metricsRoute(served, metrics)
      healthRoutes(served, context, () => isStopping)
    },
    stopTaking() {
      isStopping = true
      return inProgress.over()
    },
  }
}

function refuseOtherMethods(app: FastifyInstance, served: Map<string, string[]>): void {
  for (const [url, allowed] of [...served]) {
    app.route({
      method: METHODS.filter((method) => !allowed.includes(method)),
      url,
      handler: (_request, reply) =>
        reply
          .code(405)
          .header('allow', allowed.join(', '))
          .send(bodyOf({ status: 405, error: 'method not allowed' })),
    })
  }
}

function toldOf(error: FastifyError | HttpRefusal, request: FastifyRequest): HttpRefusal {
  if (error instanceof HttpRefusal) return error
  const isOwn = typeof error.code === 'string' && error.code.startsWith('FST_')
  const isCutShort = error.code === 'ECONNRESET' && !request.raw.complete
  const status = error.statusCode ?? 500
  const text = isOwn || isCutShort ? REFUSALS.get(status) : undefined
  if (text !== undefined) return new HttpRefusal(status, text)
  request.log.error({ reqId: request.id, err: error }, 'a request failed')
  return new HttpRefusal(500, 'internal error')
}
