// Messages between the search thread and its client.
import type { Explained, Hit, Question } from '@referrer/search'

export interface ThreadData {
  databaseUrl: string
  chainIds: readonly number[]
  /** The configured model; undefined: search by words alone. */
  configuredId: string | undefined
  pollMs: number
  /** Snapshots are kept of chains with at least so many products. */
  snapshotFrom: number
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
  /** Duration of the last load. */
  loadSeconds: number
  /** `isRestored`: it was loaded from a snapshot, not product by product. */
  chains: { chainId: number; products: number; vectors: number; isRestored: boolean }[]
}
