import { randomUUID } from 'node:crypto'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { Context } from '../context.ts'
import { healthRoutes } from './health.ts'
import { createMetrics, type Metrics, metricsRoutes } from './metrics.ts'
import { RequestLog } from './request-log.ts'

const BODY_LIMIT = 2 * 1024 * 1024
/** To send a whole request. Without it a caller can hold a connection for ever. */
const REQUEST_PATIENCE_MS = 60_000
const REQUEST_ID = /^[\w.-]{1,64}$/

/** What Fastify refuses by itself. Everything else that is thrown is an internal error. */
const REFUSALS = new Map([
  [400, 'bad request'],
  [413, 'request body too large'],
  [414, 'path too long'],
  [415, 'unsupported content type'],
])

/** The HTTP door. Every noun adds its routes here as a plugin. */
export function createApp(context: Context, metrics: Metrics = createMetrics(context)): FastifyInstance {
  const log: FastifyBaseLogger = context.log
  const app = Fastify({
    loggerInstance: log,
    logController: new RequestLog(),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_PATIENCE_MS,
    genReqId: ({ headers: { 'x-request-id': given } }) =>
      typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID(),
    frameworkErrors: (error, request, reply) => refuse(error, request, reply),
  })
  app.setErrorHandler(refuse)
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }))
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })

  metricsRoutes(app, metrics)
  healthRoutes(app, context)
  return app
}

function refuse(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const isOwn = typeof error.code === 'string' && error.code.startsWith('FST_')
  const isCutShort = error.code === 'ECONNRESET' && !request.raw.complete
  const text = isOwn || isCutShort ? REFUSALS.get(error.statusCode ?? 500) : undefined
  if (text !== undefined) return reply.code(error.statusCode ?? 500).send({ error: text })
  request.log.error({ err: error }, 'a request failed')
  return reply.code(500).send({ error: 'internal error' })
}
