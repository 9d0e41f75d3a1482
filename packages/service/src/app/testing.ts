import type { FastifyInstance } from 'fastify'
import { createApp } from '../doors/http/app.ts'
import type { Context } from '../kit/context.ts'
import { createMetrics } from './metrics.ts'
import { routes } from './routes.ts'
import { tools } from './tools.ts'

/** The HTTP application with all routes and tools, without workers. */
export const testApp = (context: Context): FastifyInstance =>
  createApp(context, { routes, tools, metrics: createMetrics(context) })
