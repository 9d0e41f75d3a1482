import type { EmbedderConfig } from '../../kit/config.ts'
import { type Context, oncePerProcess } from '../../kit/context.ts'
import type { Embedder } from './embedder.ts'
import { createEndpoint } from './endpoint.ts'
import {
  COMMON,
  endpointId,
  isLearnedId,
  LOCAL,
  LOCAL_THEN_LEARNED,
  NEWEST_LEARNED,
  readEndpointId,
} from './ids.ts'
import { createLocal } from './local.ts'
import { wordModels } from './words.ts'

/** The id of the configured model, or what stands in its place; undefined: none is configured. */
export function configuredId(config: EmbedderConfig | undefined): string | undefined {
  if (config?.kind === 'learned') return NEWEST_LEARNED
  if (config?.kind === 'auto') return LOCAL_THEN_LEARNED
  return config && (config.kind === 'local' ? LOCAL.id : endpointId(config))
}

/** Whether the service learns word vectors. */
export const learns = (config: EmbedderConfig | undefined): boolean =>
  config?.kind === 'learned' || config?.kind === 'auto'

export const isWordsId = (id: string) => id === COMMON.id || isLearnedId(id)

/** A model by its id: the configured one or an earlier one. Undefined: this configuration cannot reach it. */
export async function embedderOf(context: Context, id: string): Promise<Embedder | undefined> {
  if (isWordsId(id)) return wordModels(context).load(id)
  if (id === LOCAL.id) return localEmbedder(context)
  return endpointOf(context, id)
}

function endpointOf(context: Context, id: string): Embedder | undefined {
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
