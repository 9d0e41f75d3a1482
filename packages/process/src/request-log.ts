import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { Logger } from 'pino'

declare module 'fastify' {
  interface FastifyRequest {
    /** What was asked for, where the path does not tell. */
    operation: { name: string; isRead: boolean } | undefined
  }
}

/** Asked every few seconds by machines. */
const QUIET = new Set(['/healthz', '/readyz', '/metrics'])

/**
 * One line for each request, when it is answered: without its query and headers, which may hold secrets. Reads by anybody that went well are
 * counted in the metrics; only who wants to see everything (`debug`) gets a line for each of them.
 */
export class RequestLog extends LogController {
  readonly #log: Logger

  constructor(log: Logger) {
    super()
    this.#log = log
  }

  override incomingRequest(): void {}

  override requestCompleted(
    err: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const { routeOptions, operation } = request
    const { isPublic } = routeOptions.config as { isPublic?: boolean }
    const isRead = (isPublic || operation?.isRead) && reply.statusCode < 400
    const level = err ? 'error' : isRead || QUIET.has(routeOptions.url ?? '') ? 'debug' : 'info'
    if (!this.#log.isLevelEnabled(level)) return
    const line = {
      reqId: request.id,
      method: request.method,
      path: request.url.split('?', 1)[0],
      ...(operation && { operation: operation.name }),
      ip: request.ip,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    }
    this.#log[level](err ? { ...line, err } : line, 'request')
  }
}
