import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { describeRoutes } from './openapi.ts'
import type { Route } from './route.ts'

const VERSION = '1'

/** The reference: for machines at `/openapi.json`, for people at `/docs`. */
export function docsRoutes(app: FastifyInstance, { config }: Context, routes: readonly Route[]): void {
  const document = JSON.stringify(describeRoutes(routes, { baseUrl: config.publicUrl, version: VERSION }))
  app.get('/openapi.json', { config: { isPublic: true } }, async (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(document),
  )
}
