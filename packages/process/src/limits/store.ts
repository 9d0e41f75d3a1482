import type { Rate, Taken } from './bucket.ts'

export interface Question {
  key: string
  rate: Rate
  wanted: number
}

/** Keeps the buckets that all replicas share, with a clock of its own. */
export interface Store {
  name: string
  /** Answers questions with different keys, in their order, with one message to the server. Without questions it only says that it is there. */
  take(questions: readonly Question[]): Promise<Taken[]>
  /** Drops its connections, one of which may hang, and makes new ones. */
  reset(): void
  close(): Promise<void>
}

export interface StoreOptions {
  /** Milliseconds, instead of the server's own clock. Tests set it. */
  clock?: (() => number) | undefined
}
