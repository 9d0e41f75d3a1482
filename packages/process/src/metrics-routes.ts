import type { FastifyInstance } from 'fastify'

/** As much of a program's metrics as its door needs. */
export interface RequestMetrics {
  readonly contentType: string
  /** Looks at everything and writes it down in Prometheus' text format. */
  render(): Promise<string>
  observeRequest(labels: { method: string; route: string; status: number }, seconds: number): void
}

/** `/metrics`, and the duration of every request in them. */
export function metricsRoutes(app: FastifyInstance, metrics: RequestMetrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    metrics.observeRequest(
      { method: request.method, route, status: reply.statusCode },
      reply.elapsedTime / 1_000,
    )
    done()
  })
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.render()
    return reply.type(metrics.contentType).send(text)
  })
}
