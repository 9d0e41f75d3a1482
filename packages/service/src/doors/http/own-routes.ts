// Descriptions, for the API reference, of the paths that are not in the list of routes.
import { z } from 'zod'
import type { Described } from './openapi.ts'

const Check = z.object({ ok: z.boolean(), detail: z.string() })

const Readiness = z
  .object({
    status: z.enum(['ready', 'not ready']),
    checks: z.record(z.string(), Check).meta({ about: 'The database, and every chain.' }),
    workers: z.array(z.object({ name: z.string(), state: z.string(), restarts: z.int() })),
  })
  .meta({ id: 'ServiceReadiness' })

const plain = { method: 'GET', tag: 'Operation', auth: 'none', isPlain: true } as const

/** `hasMetrics`: `/metrics` is on the public port. */
export const ownRoutesWith = ({ hasMetrics }: { hasMetrics: boolean }): Described[] =>
  ownRoutes.filter(({ path }) => hasMetrics || path !== '/metrics')

const ownRoutes: readonly Described[] = [
  {
    ...plain,
    path: '/healthz',
    summary: 'Whether the process runs',
    response: z.object({ status: z.literal('ok') }),
  },
  {
    ...plain,
    path: '/readyz',
    summary: 'Whether the service is ready to answer',
    about: '503 while the database does not answer or the index of a chain lags too far behind.',
    response: Readiness,
    otherwise: { 503: Readiness },
  },
  {
    ...plain,
    path: '/metrics',
    summary: 'Figures for Prometheus',
    contentType: 'text/plain',
  },
  {
    ...plain,
    isPlain: false,
    path: '/openapi.json',
    summary: 'This document',
    response: z.looseObject({ openapi: z.string() }),
  },
  {
    ...plain,
    isPlain: false,
    tag: 'Manifest',
    path: '/llms.txt',
    summary: 'What a language model may read here, as links',
    contentType: 'text/plain',
    hasEtag: true,
  },
]
