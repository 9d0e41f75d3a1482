import type { Cells } from './cells.ts'
import { termsOf } from './text.ts'
import { cosine, type Vector } from './vector.ts'

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

export const productScore = (intentMatch: number, rank: number): number => 0.7 * intentMatch + 0.3 * rank

interface Entry {
  product: Product
  impacts: Map<string, number>
}

/** The products of one chain. The same products give the same answers, in whatever order they came and went. */
export class Catalogue {
  readonly #entries = new Map<string, Entry>()
  readonly #holders = new Map<string, Set<string>>()

  get size(): number {
    return this.#entries.size
  }

  put(product: Product): void {
    this.drop(product.key)
    const impacts = new Map<string, number>()
    const add = (text: string, weight: number) => {
      for (const term of termsOf(text)) impacts.set(term, (impacts.get(term) ?? 0) + weight)
    }
    add(product.name, 2)
    add(product.category, 1.5)
    add(product.description, 0.5)
    add(product.evidence, 0.1)
    for (const [term, weight] of impacts) {
      impacts.set(term, weight / (weight + 0.9))
      const holders = this.#holders.get(term) ?? new Set()
      this.#holders.set(term, holders.add(product.key))
    }
    this.#entries.set(product.key, { product, impacts })
  }

  drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    for (const term of entry.impacts.keys()) {
      const holders = this.#holders.get(term)
      holders?.delete(key)
      if (holders?.size === 0) this.#holders.delete(term)
    }
  }

  useCells(_points: Cells | undefined): void {}

  find(question: Question): Hit[] {
    const terms = [...new Set(termsOf(question.intent))]
    const weights = terms.map((term) =>
      Math.log(1 + (this.size + 0.5) / ((this.#holders.get(term)?.size ?? 0) + 0.5)),
    )
    const most = weights.reduce((sum, weight) => sum + weight, 0)
    const hits: Hit[] = []
    for (const { product, impacts } of this.#entries.values()) {
      if (question.category !== undefined && product.category !== question.category) continue
      if (question.ceiling !== undefined && (product.price ?? product.leastPrice) > question.ceiling) continue
      const words =
        most === 0
          ? 0
          : terms.reduce((sum, term, i) => sum + (weights[i] ?? 0) * (impacts.get(term) ?? 0), 0) / most
      const near =
        question.vector && product.vector ? Math.max(0, cosine(question.vector, product.vector)) : 0
      const intentMatch = question.vector === undefined ? words : 0.8 * words + 0.2 * near
      if (intentMatch > 0) hits.push({ key: product.key, intentMatch, rank: product.rank })
    }
    const score = (hit: Hit) => productScore(hit.intentMatch, hit.rank)
    return hits.sort((a, b) => score(b) - score(a) || (a.key < b.key ? -1 : 1)).slice(0, question.limit)
  }
}
