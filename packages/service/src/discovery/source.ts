import type { Explained, Hit, Question, Vector } from '@referrer/search'

/** A search index that finds products for an intent. */
export interface Source {
  /** The model whose vectors it compares; undefined: it searches by words alone. */
  readonly embedderId: string | undefined
  /** Best first; undefined: it cannot answer at the moment. */
  find(chainId: number, question: Question): Promise<Hit[] | undefined>
  /** The same, with how it came about. */
  explain(chainId: number, question: Question): Promise<Explained | undefined>
}

/** A source with the function that embeds its intents. */
export interface Search {
  source: Source
  /** Undefined: the vector did not come in time, or failed. */
  embed(intent: string, embedderId: string): Promise<Vector | undefined>
}
