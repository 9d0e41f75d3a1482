// Messages between the search thread and its client.
import type { Explained, Hit, Question } from '@referrer/search'

export interface ThreadData {
  databaseUrl: string
  chainIds: readonly number[]
  /** The configured model; undefined: search by words alone. */
  configuredId: string | undefined
  pollMs: number
}

export type ToThread =
  /** `embedderId`: the model of the question's vector. */
  | {
      find: number
      chainId: number
      question: Question
      embedderId: string | undefined
      isExplained: boolean
    }
  | { stop: true }

export type FromThread =
  /** Undefined: nothing is loaded yet. */
  | { found: number; answer: Hit[] | Explained | undefined }
  /** The index was up to date a moment ago. */
  | { polled: Standing }
  /** A poll or a search failed, with the reason. */
  | { failed: string }

/** The contents of the loaded index. */
export interface Standing {
  embedderId: string | undefined
  /** Duration of the last full load. */
  loadSeconds: number
  chains: { chainId: number; products: number; vectors: number }[]
}
