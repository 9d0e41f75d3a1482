// Without an endpoint for traces everything here does nothing, and the tracing library is not loaded.
import type { Tracing, TracingConfig } from './types.ts'

export const NO_TRACING: Tracing = {
  isOn: false,
  begin: () => undefined,
  run: (_name, _attributes, work) => work(),
  traceFetch: (fetch) => fetch,
  observeQuery: undefined,
  close: async () => {},
}

/** `name`: of the program, where the configuration has no other. */
export async function openTracing(config: TracingConfig | undefined, name: string): Promise<Tracing> {
  if (!config) return NO_TRACING
  const { createTracing } = await import('./otlp.ts')
  return createTracing(config, name)
}
