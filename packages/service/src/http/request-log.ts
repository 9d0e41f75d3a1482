import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'

/** Asked every few seconds by machines. */
const QUIET = new Set(['/healthz', '/readyz', '/metrics'])

/** One line for each request, when it is answered: without its query and headers, which may hold secrets. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(
    err: Error | null | undefined,
    { id: reqId, method, url, ip, log }: FastifyRequest,
    { statusCode: status, elapsedTime }: FastifyReply,
  ): void {
    const path = url.split('?', 1)[0] ?? ''
    const line = { reqId, method, path, ip, status, ms: Math.round(elapsedTime) }
    if (err) log.error({ ...line, err }, 'request')
    else if (QUIET.has(path)) log.debug(line, 'request')
    else log.info(line, 'request')
  }
}
