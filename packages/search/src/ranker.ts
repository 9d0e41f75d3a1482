import type { Wish } from './question.ts'
import { lengthOf, quantize, type Vector } from './vector.ts'

export const productScore = (intentMatch: number, rank: number): number => 0.7 * intentMatch + 0.3 * rank

/** The weighted share of the concepts of a query that a product matches, by the scores of its terms. */
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

/** Typical cosines of unrelated texts, and of texts about the same kind of thing; above the latter, words decide. */
const UNRELATED = 0.25
const SAME_KIND = 0.85

/** How near two texts are, from 0 to 1. */
export const nearness = (cosine: number): number =>
  Math.min(1, Math.max(0, (cosine - UNRELATED) / (SAME_KIND - UNRELATED)))

/** The vector to search for, and its share in the score beside the words. */
export interface Aim {
  vector: Vector
  share: number
}

/** How many of the best word matches adjust the query vector; chosen without filters, so that filters change no score. */
export const GUIDES = 10
/** The share of the vector when words match everything, and when they match nothing. */
const LEAST_SHARE = 0.04
const MOST_SHARE = 0.4
/** How well words match where the share is halfway between, and how fast it falls there: with good matches, words say more. */
const HALFWAY = 0.3
const STEEPNESS = 8

/**
 * Pseudo-relevance feedback: a short query has a poor embedding. The better its words match, the more the vector moves towards the
 * embeddings of the products found by words; the worse they match, the more the embedding of the query itself counts. A vector of zeros
 * is that of a query the model does not understand: the products found by words stand for it, with the least share. Undefined: there is
 * nothing to search for.
 */
export function aimAt(
  vector: Vector,
  guides: readonly { words: number; vector: Vector | undefined }[],
): Aim | undefined {
  const all = guides.reduce((sum, { words }) => sum + words, 0)
  const trust = guides.length === 0 ? 0 : all / guides.length
  const aim = new Float64Array(vector.length)
  add(aim, vector, 1 - trust)
  for (const guide of guides) {
    if (guide.vector?.length === vector.length) add(aim, guide.vector, (trust * guide.words) / all)
  }
  if (aim.every((value) => value === 0)) return undefined
  const isUnderstood = lengthOf(vector) > 0
  const more = isUnderstood ? (MOST_SHARE - LEAST_SHARE) / (1 + (trust / HALFWAY) ** STEEPNESS) : 0
  return { vector: quantize(aim), share: LEAST_SHARE + more }
}

/** Adds the vector, normalised to length 1, times a factor. */
function add(sum: Float64Array, vector: Vector, times: number): void {
  const length = lengthOf(vector) || 1
  for (let i = 0; i < sum.length; i += 1)
    sum[i] = (sum[i] as number) + (times * (vector[i] as number)) / length
}

export const intentMatch = (words: number, near: number, share: number): number =>
  (1 - share) * words + share * near
