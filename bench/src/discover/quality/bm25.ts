// The textbook's way to find texts by words, for comparison.
import { stemmer } from 'stemmer'
import { type Listed, passes } from './engine.ts'
import type { Query } from './sets.ts'

const K1 = 1.2
const B = 0.75

const termsOf = (text: string) =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => stemmer(word))

export function createBm25(products: readonly Listed[]) {
  const texts = products.map(({ name, category, description }) => `${name} ${category} ${description}`)
  const postings = new Map<string, Map<number, number>>()
  const lengths = texts.map((text, at) => {
    const terms = termsOf(text)
    for (const term of terms) {
      const posting = postings.get(term) ?? new Map<number, number>()
      postings.set(term, posting.set(at, (posting.get(at) ?? 0) + 1))
    }
    return terms.length
  })
  const mean = lengths.reduce((sum, length) => sum + length, 0) / texts.length

  /** Ids of the best products, best first. */
  return function find(query: Query, question: string, limit: number): string[] {
    const scores = new Map<number, number>()
    for (const term of new Set(termsOf(question))) {
      const posting = postings.get(term) ?? new Map<number, number>()
      const weight = Math.log(1 + (texts.length - posting.size + 0.5) / (posting.size + 0.5))
      for (const [at, times] of posting) {
        const norm = K1 * (1 - B + (B * (lengths[at] ?? 0)) / mean)
        scores.set(at, (scores.get(at) ?? 0) + (weight * times * (K1 + 1)) / (times + norm))
      }
    }
    return [...scores]
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .map(([at]) => products[at] as Listed)
      .filter((product) => passes(product, query))
      .slice(0, limit)
      .map(({ id }) => id)
  }
}
