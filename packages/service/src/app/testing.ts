import type { FastifyInstance } from 'fastify'
import { createApp } from '../doors/http/app.ts'
import type { Context } from '../kit/context.ts'
import { createMetrics } from './metrics.ts'
import { routes } from './routes.ts'
import { tools } from './tools.ts'

/** The door to the whole market, without workers. */
export const testApp = (context: Context): FastifyInstance =>
  createApp(context, { routes, tools, metrics: createMetrics(context) })
