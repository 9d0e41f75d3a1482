/** What is known of a product that can be found. */
export interface Product {
  /** Whoever is before another by this comes first where all else is equal. */
  key: string
  name: string
  category: string
  description: string
  /** What its reviews say, as words, each as often as it shall count. */
  evidence: string
  /** From 0 to 1. */
  rank: number
  /** In base units; undefined: not known. */
  price: number | undefined
  /** It is sold for no less. */
  leastPrice: number
  vector: Vector | undefined
}

/** One signed byte for each dimension; how long it is says nothing. */
export type Vector = Int8Array

export interface Question {
  /** What somebody wants, in words. */
  intent: string
  /** The same as a vector of the model that the products' vectors are of; undefined: words alone decide. */
  vector: Vector | undefined
  /** Only products of exactly this category. */
  category: string | undefined
  /** Only products that are not known to cost more. */
  ceiling: number | undefined
  limit: number
}

export interface Hit {
  key: string
  /** How well it is what was asked for, from 0 to 1; the same whatever filters there are. */
  intentMatch: number
  rank: number
}
