// The ids of models, apart from the models: the search thread reads them and needs nothing of the rest.

/** The version is that of the model's npm package. */
export const LOCAL = { id: 'local/model-embeddings-en@0.2.0', dims: 512 } as const

/** The word vectors that come with the service. The version must change with them. */
export const COMMON = { id: 'common/1@96', dims: 96 } as const

/** In place of an id: the newest word vectors that were learned from the market, the common ones until there are some. */
export const NEWEST_LEARNED = 'learned'

/** In place of an id: the newest word vectors that were learned from the market, the local model until there are some. */
export const LOCAL_THEN_LEARNED = 'auto'

/** The format of word vectors that this version writes and reads: their first bytes. */
export const WORDS_FORMAT = 'RWV1'

const LEARNED_PREFIX = 'learned/'

export const isLearnedId = (id: string) => id.startsWith(LEARNED_PREFIX)

export const learnedId = (number: bigint, dims: number) => `${LEARNED_PREFIX}${number}@${dims}`

const ENDPOINT_PREFIX = 'endpoint/'

export const isEndpointId = (id: string) => id.startsWith(ENDPOINT_PREFIX)

export const endpointId = ({ model, dims }: { model: string; dims: number }) =>
  `${ENDPOINT_PREFIX}${model}@${dims}`

/** The model and the dimensions in an id made by `endpointId`. */
export function readEndpointId(id: string): { model: string; dims: number } | undefined {
  const [, model, dims] = /^endpoint\/(.+)@(\d+)$/s.exec(id) ?? []
  return model === undefined ? undefined : { model, dims: Number(dims) }
}
