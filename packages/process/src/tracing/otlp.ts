// Traces for an OTLP/HTTP receiver, by OpenTelemetry.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import manifest from '../../package.json' with { type: 'json' }
import { currentSpan, withSpan } from './request-context.ts'
import type { OpenSpan, SpanOptions, Tracing, TracingConfig } from './types.ts'

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, producer: SpanKind.PRODUCER }
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const METHOD = /"method":"(\w{1,60})"/
const LONGEST_STATEMENT = 500
/** A receiver that does not answer must not hold up the end of the program. */
const CLOSE_TIMEOUT_MS = 2_000

interface Traced extends OpenSpan {
  readonly span: Span
}

export function createTracing(
  { endpoint, headers, serviceName, ratio }: TracingConfig,
  name: string,
): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    headers: headersOf(headers?.reveal() ?? ''),
  })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName ?? name,
      'service.version': manifest.version,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1_000 })],
  })
  const tracer = provider.getTracer('referrer')

  function begin(title: string, options: SpanOptions = {}): Traced {
    const { kind, parent, attributes = {}, links = [], startTime } = options
    const span = tracer.startSpan(
      title,
      {
        ...(kind && { kind: KINDS[kind] }),
        attributes,
        links: links.flatMap((text): Link[] => {
          const context = contextOf(text)
          return context ? [{ context }] : []
        }),
        ...(startTime !== undefined && { startTime }),
      },
      parentContext(parent),
    )
    return {
      span,
      get traceparent() {
        return textOf(span.spanContext())
      },
      set: (more) => void span.setAttributes(more),
      end(failure) {
        if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
        span.end()
      },
    }
  }

  return {
    isOn: true,
    begin,
    async run(title, attributes, work) {
      if (!currentSpan()) return work()
      const span = begin(title, { attributes })
      try {
        const result = await withSpan(span, work)
        span.end()
        return result
      } catch (error) {
        span.end(kindOf(error))
        throw error
      }
    },
    traceFetch: (fetch) => async (input, init) => {
      if (!currentSpan()) return fetch(input, init)
      const { host } = new URL(input instanceof Request ? input.url : input)
      const verb = init?.method ?? 'GET'
      const rpc = typeof init?.body === 'string' ? METHOD.exec(init.body)?.[1] : undefined
      const span = begin(rpc ? `rpc ${rpc}` : `${verb} ${host}`, {
        kind: 'client',
        // The path of a node's URL may hold a key.
        attributes: {
          'server.address': host,
          'http.request.method': verb,
          ...(rpc && { 'rpc.method': rpc }),
        },
      })
      try {
        const passed = new Headers(init?.headers)
        passed.set('traceparent', span.traceparent)
        const response = await fetch(input, { ...init, headers: Object.fromEntries(passed) })
        span.set({ 'http.response.status_code': response.status })
        span.end(response.status >= 500 ? `status ${response.status}` : undefined)
        return response
      } catch (error) {
        span.end(kindOf(error))
        throw error
      }
    },
    observeQuery(statement) {
      if (!currentSpan()) return undefined
      const text = statement.replace(/\s+/g, ' ').trim()
      const span = begin(`postgres ${text.slice(0, text.indexOf(' ') >>> 0)}`, {
        kind: 'client',
        attributes: { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, LONGEST_STATEMENT) },
      })
      return (error) => span.end(error === undefined ? undefined : kindOf(error))
    },
    async close() {
      const patience = sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })
      await Promise.race([provider.shutdown().catch(() => {}), patience])
    },
  }
}

function parentContext(parent: SpanOptions['parent']): Context {
  const given = typeof parent === 'string' ? contextOf(parent) : undefined
  if (given) return trace.setSpanContext(ROOT_CONTEXT, given)
  const present = currentSpan() as Traced | undefined
  return present ? trace.setSpan(ROOT_CONTEXT, present.span) : ROOT_CONTEXT
}

function contextOf(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true }
}

const textOf = ({ traceId, spanId, traceFlags }: SpanContext) =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`

/** Only what kind of error it is: its message may hold what a stranger wrote. */
const kindOf = (error: unknown): string => (error instanceof Error ? error.name : 'error')

function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.split('='))
  return Object.fromEntries(
    pairs.flatMap(([key, ...value]) => (key?.trim() ? [[key.trim(), value.join('=').trim()]] : [])),
  )
}
