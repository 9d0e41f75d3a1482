// What programs do with traces.
import type { QueryObserver } from '@referrer/database'

export interface TracingConfig {
  /** Base URL of an OTLP/HTTP receiver. */
  endpoint: string
  /** Headers of the export, as `name=value` separated by commas. */
  headers: { reveal(): string } | undefined
  /** Instead of the program's own name. */
  serviceName: string | undefined
  /** Share of the traces that are recorded, from 0 to 1; a caller's decision counts before it. */
  ratio: number
}

export type Attributes = Record<string, string | number | boolean>

export interface SpanOptions {
  kind?: 'server' | 'client' | 'producer'
  /** A W3C `traceparent`; without it the span is below the present one. */
  parent?: string | string[] | undefined
  attributes?: Attributes
  /** `traceparent` of other traces that it belongs to. */
  links?: readonly string[]
  /** Milliseconds since 1970. */
  startTime?: number
}

/** A span that has begun. */
export interface OpenSpan {
  readonly traceparent: string
  set(attributes: Attributes): void
  /** `failure`: what went wrong, in our own words. */
  end(failure?: string): void
}

export interface Tracing {
  readonly isOn: boolean
  begin(name: string, options?: SpanOptions): OpenSpan | undefined
  /** Runs work in a span below the present one; where there is none, in no span. */
  run<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>
  /** A `fetch` that passes the trace on and has a span for each call. */
  traceFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch
  readonly observeQuery: QueryObserver | undefined
  /** Sends what is not sent yet. */
  close(): Promise<void>
}
