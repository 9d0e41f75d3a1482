// The ids of models, apart from the models: the search thread reads them and needs nothing of the rest.

/** The version is that of the model's npm package. */
export const LOCAL = { id: 'local/model-embeddings-en@0.2.0', dims: 512 } as const

const PREFIX = 'endpoint/'

export const isEndpointId = (id: string) => id.startsWith(PREFIX)

export const endpointId = ({ model, dims }: { model: string; dims: number }) => `${PREFIX}${model}@${dims}`

/** The model and the dimensions in an id made by `endpointId`. */
export function readEndpointId(id: string): { model: string; dims: number } | undefined {
  const [, model, dims] = /^endpoint\/(.+)@(\d+)$/s.exec(id) ?? []
  return model === undefined ? undefined : { model, dims: Number(dims) }
}
