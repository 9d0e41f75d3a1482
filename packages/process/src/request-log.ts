import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { Logger } from 'pino'

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation behind a path that serves many of them, like `/mcp`. */
    operation: { name: string; isRead: boolean } | undefined
  }
}

/** Routes that monitoring polls every few seconds; they are logged at `debug` only. */
const QUIET = new Set(['/healthz', '/readyz', '/metrics'])

/**
 * Logs one line for each answered request, without its query and headers, which may hold secrets. Successful public reads are logged
 * at `debug` only, because the metrics count them already.
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
