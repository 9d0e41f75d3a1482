import type { EmbedderConfig } from '../../kit/config.ts'
import { type Context, oncePerProcess } from '../../kit/context.ts'
import type { Embedder } from './embedder.ts'
import { createEndpoint } from './endpoint.ts'
import { endpointId, LOCAL, readEndpointId } from './ids.ts'
import { createLocal } from './local.ts'

/** The id of the configured model; undefined: none is configured. */
export const configuredId = (config: EmbedderConfig | undefined): string | undefined =>
  config && (config.kind === 'local' ? LOCAL.id : endpointId(config))

/** A model by its id: the configured one or an earlier one. Undefined: this configuration cannot reach it. */
export function embedderOf(context: Context, id: string): Embedder | undefined {
  if (id === LOCAL.id) return localEmbedder(context)
  const endpoints = endpointsOf(context)
  const known = endpoints.get(id)
  if (known) return known
  const { config, fetch } = context
  const named = readEndpointId(id)
  if (!named || config.embedder?.kind !== 'endpoint') return undefined
  const endpoint = createEndpoint({ ...config.embedder, ...named }, fetch)
  endpoints.set(id, endpoint)
  return endpoint
}

export const localEmbedder = oncePerProcess(() => createLocal())

const endpointsOf = oncePerProcess(() => new Map<string, Embedder>())
