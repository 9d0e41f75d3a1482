import type { FastifyInstance } from 'fastify'

/** The part of a program's metrics that the HTTP routes use. */
export interface RequestMetrics {
  readonly contentType: string
  /** Collects all metrics and returns them in the Prometheus text format. */
  render(): Promise<string>
  observeRequest(labels: { method: string; route: string; status: number }, seconds: number): void
}

/** Measures the duration of every request. */
export function measureRequests(app: FastifyInstance, metrics: RequestMetrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    metrics.observeRequest(
      { method: request.method, route, status: reply.statusCode },
      reply.elapsedTime / 1_000,
    )
    done()
  })
}

/** Adds the route `/metrics`. */
export function metricsRoute(app: FastifyInstance, metrics: RequestMetrics): void {
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.render()
    return reply.type(metrics.contentType).send(text)
  })
}
