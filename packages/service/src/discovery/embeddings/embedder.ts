import type { Vector } from '@referrer/search'

/** Intents have a caller waiting; queued texts have not. */
export type Kind = 'intents' | 'texts'

/** Makes vectors of texts. Vectors can be compared if their embedders have the same id. */
export interface Embedder {
  readonly id: string
  readonly dims: number
  /** The best batch size for queued texts. */
  readonly atOnce: number
  /** One vector for each text, in order, independent of the other texts in the call. A blank text gives zeros. */
  embed(texts: readonly string[], kind?: Kind): Promise<Vector[]>
}

/**
 * When to retry. `soon`: the model is busy; `later`: the model cannot be reached, whatever the texts are; `apart`:
 * one of the texts may be the cause, so each is to be tried in a call of its own.
 */
type Again = 'soon' | 'later' | 'apart'

/** The embedder returned no vectors. */
export class EmbeddingFailed extends Error {
  override readonly name = 'EmbeddingFailed'
  readonly again: Again
  /** The `Retry-After` that the model's host asked for. */
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

/** Embeds only the texts that are not blank, and puts zeros for the others. */
export async function embedNonBlank(
  texts: readonly string[],
  dims: number,
  embed: (nonBlank: string[]) => Promise<Vector[]>,
): Promise<Vector[]> {
  const nonBlank = texts.filter((text) => !isBlank(text))
  const vectors = nonBlank.length === 0 ? [] : await embed(nonBlank)
  let next = 0
  return texts.map((text) => (isBlank(text) ? new Int8Array(dims) : (vectors[next++] as Vector)))
}
