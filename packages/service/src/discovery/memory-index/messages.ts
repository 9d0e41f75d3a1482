// What the thread and those who ask it tell each other.
import type { Hit, Question } from '@referrer/search'

export interface ThreadData {
  databaseUrl: string
  chainIds: readonly number[]
  /** The model that is configured; undefined: words alone. */
  configuredId: string | undefined
  pollMs: number
}

export type ToThread = { find: number; chainId: number; question: Question } | { stop: true }

export type FromThread =
  /** Undefined: nothing is loaded yet. */
  | { found: number; hits: Hit[] | undefined }
  /** It knows what there was a moment ago. */
  | { polled: Standing }
  /** It could not; why, in words. */
  | { failed: string }

/** What the thread answers from. */
export interface Standing {
  embedderId: string | undefined
  /** To load all of it. */
  loadSeconds: number
  chains: { chainId: number; products: number; vectors: number }[]
}
