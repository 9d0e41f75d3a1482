// Which request the present work is for. It follows the work through promises and timers, so that log lines, stored transactions and
// traces have the id of their request without every function passing it on.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { OpenSpan, Tracing } from './types.ts'

interface Current {
  requestId: string | undefined
  span: OpenSpan | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    current: Current | undefined
  }
}

const current = new AsyncLocalStorage<Current>()

export const currentRequestId = (): string | undefined => current.getStore()?.requestId
export const currentSpan = (): OpenSpan | undefined => current.getStore()?.span

/** Runs work below a span. */
export const withSpan = <T>(span: OpenSpan, work: () => T): T =>
  current.run({ requestId: currentRequestId(), span }, work)

/** Runs work that belongs to no request, although one has caused it: its log lines name their requests themselves. */
export const outsideRequests = <T>(work: () => T): T => current.exit(work)

/** For what is stored now and done later: the request and the trace that it comes from. */
export function currentOrigin(): { requestIds: string[]; traceparents: string[] } {
  const { requestId, span } = current.getStore() ?? {}
  return {
    requestIds: requestId === undefined ? [] : [requestId],
    traceparents: span === undefined ? [] : [span.traceparent],
  }
}

/** Tells every caller the id of its request, keeps it for the work that the request causes, and traces the request. */
export function followRequests(app: FastifyInstance, tracing: Tracing): void {
  app.decorateRequest('current', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    // Here, because this is the first thing that is known of every answer.
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' })
    const span = tracing.isOn ? beginRequest(tracing, request) : undefined
    request.current = { requestId: request.id, span }
    current.run(request.current, done)
  })
  // The body arrives in events of the socket, which know nothing of the hook before.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.current) current.run(request.current, done)
    else done()
  })
  if (!tracing.isOn) return
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply
    request.current?.span?.set({ 'http.response.status_code': statusCode })
    request.current?.span?.end(statusCode >= 500 ? `status ${statusCode}` : undefined)
    done()
  })
}

function beginRequest(tracing: Tracing, { id, method, headers, routeOptions }: FastifyRequest) {
  const route = routeOptions.url ?? 'none'
  return tracing.begin(`${method} ${route}`, {
    kind: 'server',
    parent: headers.traceparent,
    attributes: { 'http.request.method': method, 'http.route': route, 'referrer.request_id': id },
  })
}
