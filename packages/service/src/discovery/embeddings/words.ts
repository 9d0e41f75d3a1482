// Embedders of word vectors, the learned and the common ones. A text takes microseconds, so that neither a thread nor
// a cache of vectors is needed.
import { setImmediate as turn } from 'node:timers/promises'
import { commonWords, type Vector, WordVectors } from '@referrer/search'
import { LRUCache } from 'lru-cache'
import { oncePerProcess } from '../../kit/context.ts'
import type { Embedder } from './embedder.ts'
import { COMMON } from './ids.ts'
import { readWords } from './words-store.ts'

/** The configured one, the one that serves until then, and the one before. */
const MOST_KEPT = 3
const AT_ONCE = 1_000
/** Texts are embedded in slices of this length, so that requests do not wait longer. */
const SLICE_MS = 4

export interface WordsEmbedder extends Embedder {
  /** Zeros: too few of the words are known. */
  embedIntent(text: string): Vector
}

export interface WordModels {
  /** Undefined: it has not been loaded, or cannot be. */
  loaded(id: string): WordsEmbedder | undefined
  /** Undefined: there are no such word vectors. Throws when they cannot be read. */
  load(id: string): Promise<WordsEmbedder | undefined>
}

/** Read from the primary: a model may be used before it has reached the replicas of the database. */
export const wordModels = oncePerProcess(({ sql }): WordModels => {
  const kept = new LRUCache<string, WordsEmbedder>({ max: MOST_KEPT })
  const loading = new Map<string, Promise<WordsEmbedder | undefined>>()

  async function read(id: string): Promise<WordsEmbedder | undefined> {
    try {
      const bytes = id === COMMON.id ? undefined : await readWords(sql, id)
      if (!bytes && id !== COMMON.id) return undefined
      const embedder = embedderOfWords(id, bytes ? WordVectors.read(bytes) : commonWords())
      kept.set(id, embedder)
      return embedder
    } finally {
      loading.delete(id)
    }
  }

  return {
    loaded: (id) => kept.get(id),
    async load(id) {
      const known = kept.get(id)
      if (known) return known
      const flight = loading.get(id) ?? read(id)
      loading.set(id, flight)
      return flight
    },
  }
})

export function embedderOfWords(id: string, words: WordVectors): WordsEmbedder {
  return {
    id,
    dims: words.dims,
    atOnce: AT_ONCE,
    embedIntent: (text) => (words.understands(text) ? words.embed(text) : new Int8Array(words.dims)),
    async embed(texts) {
      const vectors: Vector[] = []
      let begun = performance.now()
      for (const text of texts) {
        vectors.push(words.embed(text))
        if (performance.now() - begun < SLICE_MS) continue
        await turn()
        begun = performance.now()
      }
      return vectors
    },
  }
}
