import type { Wish } from './question.ts'
import { lengthOf, quantize, type Vector } from './vector.ts'

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

/** Texts that have nothing to do with each other are about so near; such about the same kind of thing, so: then words decide. */
const UNRELATED = 0.25
const SAME_KIND = 0.85

/** How near two texts are, from 0 to 1. */
export const nearness = (cosine: number): number =>
  Math.min(1, Math.max(0, (cosine - UNRELATED) / (SAME_KIND - UNRELATED)))

/** Where to look among the vectors, and how much they have to say beside the words. */
export interface Aim {
  vector: Vector
  share: number
}

/** So many of the best by words show the way; without filters, so that filters change no match. */
export const GUIDES = 10
/** What vectors have to say beside words that fulfil every wish, and beside none at all. */
const LEAST_SHARE = 0.08
const MOST_SHARE = 0.6
/** Even few words that are found tell more than a vector: its share falls quickly with them. */
const STEEPNESS = 8

/**
 * Few words make a poor vector. The better the words find what was wished for, the more the search goes where the products that they find
 * lie; the less they find, the more it is up to the question's own vector.
 */
export function aimAt(vector: Vector, guides: readonly { words: number; vector: Vector | undefined }[]): Aim {
  const all = guides.reduce((sum, { words }) => sum + words, 0)
  const trust = guides.length === 0 ? 0 : all / guides.length
  const aim = new Float64Array(vector.length)
  add(aim, vector, 1 - trust)
  for (const guide of guides) {
    if (guide.vector?.length === vector.length) add(aim, guide.vector, (trust * guide.words) / all)
  }
  return { vector: quantize(aim), share: LEAST_SHARE + (MOST_SHARE - LEAST_SHARE) * (1 - trust) ** STEEPNESS }
}

/** Adds a vector as if it were one long, times so much. */
function add(sum: Float64Array, vector: Vector, times: number): void {
  const length = lengthOf(vector) || 1
  for (let i = 0; i < sum.length; i += 1)
    sum[i] = (sum[i] as number) + (times * (vector[i] as number)) / length
}

export const intentMatch = (words: number, near: number, share: number): number =>
  (1 - share) * words + share * near
