import type { Wish } from './question.ts'

export const productScore = (intentMatch: number, rank: number): number => 0.7 * intentMatch + 0.3 * rank

/** What share of all that was wished for a product fulfils, by what each term is worth in it. */
export function wordMatch<Term>(wishes: readonly Wish<Term>[], worth: (term: Term) => number): number {
  let all = 0
  let fulfilled = 0
  for (const { weight, ways } of wishes) {
    all += weight
    let most = 0
    for (const { terms, likeness } of ways) {
      let least = 1
      for (const term of terms) least = Math.min(least, worth(term))
      most = Math.max(most, likeness * least)
    }
    fulfilled += weight * most
  }
  return all === 0 ? 0 : fulfilled / all
}

/** Texts that have nothing to do with each other are about so near. */
const UNRELATED = 0.25
const SAME = 0.85

/** How near two texts are, from 0 to 1. */
export const nearness = (cosine: number): number =>
  Math.min(1, Math.max(0, (cosine - UNRELATED) / (SAME - UNRELATED)))

/** How much the vector has to say beside the words. */
export function vectorShare(wishes: readonly Wish<unknown>[]): number {
  return wishes.length === 0 ? 1 : 0.2
}

export const intentMatch = (words: number, near: number, share: number): number =>
  (1 - share) * words + share * near
