import type { Hit, Question, Vector } from '@referrer/search'

/** Where products are found by an intent. */
export interface Source {
  /** The model whose vectors it compares; undefined: it goes by words alone. */
  readonly embedderId: string | undefined
  /** Best first; undefined: it cannot tell at this moment. */
  find(chainId: number, question: Question): Promise<Hit[] | undefined>
}

/** What a search takes. */
export interface Search {
  source: Source
  /** Undefined: there is no vector in time, or none at all. */
  embed(intent: string, embedderId: string): Promise<Vector | undefined>
}
