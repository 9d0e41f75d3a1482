import type { Vector } from '@referrer/search'

/** Intents are waited for by somebody; texts of the queue are not. */
export type Kind = 'intents' | 'texts'

/** Makes vectors of texts. Two of them can be compared when their embedders have the same id. */
export interface Embedder {
  readonly id: string
  readonly dims: number
  /** How many texts of the queue it is best given together. */
  readonly atOnce: number
  /** One vector for each text, in their order, the same one whatever else is asked for. A blank text has no direction: zeros. */
  embed(texts: readonly string[], kind?: Kind): Promise<Vector[]>
}

/**
 * When to ask again for vectors that did not come. `soon`: the model has enough to do; `later`: it cannot be asked, whatever the texts are;
 * `apart`: it was asked, and one of the texts may be why it failed.
 */
type Again = 'soon' | 'later' | 'apart'

/** No vectors. */
export class EmbeddingFailed extends Error {
  override readonly name = 'EmbeddingFailed'
  readonly again: Again
  /** What the model's host asks for. */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    again: Again,
    { retryAfterMs, ...options }: ErrorOptions & { retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options)
    this.again = again
    this.retryAfterMs = retryAfterMs
  }
}

const isBlank = (text: string) => text.trim() === ''

/** Has only those texts embedded that say something. */
export async function embedSaying(
  texts: readonly string[],
  dims: number,
  embed: (saying: string[]) => Promise<Vector[]>,
): Promise<Vector[]> {
  const saying = texts.filter((text) => !isBlank(text))
  const vectors = saying.length === 0 ? [] : await embed(saying)
  let next = 0
  return texts.map((text) => (isBlank(text) ? new Int8Array(dims) : (vectors[next++] as Vector)))
}
