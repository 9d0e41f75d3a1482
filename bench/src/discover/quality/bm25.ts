// The textbook's way to find texts by words, for comparison.
import { stemmer } from 'stemmer'

const K1 = 1.2
const B = 0.75

const termsOf = (text: string) =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => stemmer(word))

export function createBm25(texts: readonly string[]) {
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

  /** Places of the best texts, best first. */
  return function find(question: string, limit: number): number[] {
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
      .slice(0, limit)
      .map(([at]) => at)
  }
}
