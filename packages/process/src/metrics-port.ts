// A port for monitoring alone, so that a proxy in front of the public port cannot show metrics to strangers.
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { closeApp } from './close-app.ts'
import { ConfigError } from './environment.ts'
import { RequestLog } from './request-log.ts'
import { refuseConnection, requestIdOf } from './requests.ts'

/** Where metrics are served apart from everything else. */
export interface MetricsAddress {
  host: string
  port: number
}

export interface MetricsPort {
  url: string
  close(timeoutMs: number): Promise<void>
}

const REQUEST_TIMEOUT_MS = 10_000

/** Listens on the port for monitoring, with the routes that `addRoutes` adds. */
export async function openMetricsPort(
  { host, port }: MetricsAddress,
  log: Logger,
  addRoutes: (app: FastifyInstance) => void,
): Promise<MetricsPort> {
  const loggerInstance: FastifyBaseLogger = log
  const app = Fastify({
    loggerInstance,
    logController: new RequestLog(log),
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: requestIdOf,
    clientErrorHandler: (error, socket) => refuseConnection(error, socket),
  })
  app.setChildLoggerFactory((logger) => logger)
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }))
  addRoutes(app)
  try {
    const url = await app.listen({ host, port })
    return { url, close: (timeoutMs) => closeApp(app, timeoutMs) }
  } catch (error) {
    await app.close()
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new ConfigError([
      `METRICS_PORT: port ${port} is in use; stop what listens there, or choose another`,
    ])
  }
}
