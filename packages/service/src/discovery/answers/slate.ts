// Chooses the reviews of a product that are shown, and the slot of each.

import { BASE_RATES, dayOf, effectiveRank, HALF_LIFE_DAYS, type ProductType } from '@referrer/ranking'
import { COOLDOWN_MS } from '../../derived/listings/store.ts'

/** A published review, with what is known of its author. */
export interface Candidate {
  internalId: bigint
  agentId: bigint
  /** The author's rank for products of this type; null: not computed yet. */
  rank: number | null
  flagged: boolean
  /** From 0 to 1; null: the review has no rating. */
  satisfaction: number | null
  publishedAt: Date
  /** Whether the merchant's owner owns the author, or did when the review was published. */
  isOwn: boolean
  /** When the author was last transferred to another owner; null: never. */
  transferredAt: Date | null
  /** How well the review matches the intent, from 0 to 1; 0 if unknown. */
  relevance: number
}

export type Slot = 'highlight' | 'newcomer' | 'dissent' | 'excluded' | 'overflow'

export interface Entry {
  internalId: bigint
  slot: Slot
  /** Why the review is excluded or in the overflow. */
  reason: string | undefined
  authorRank: number
  /** Where `authorRank` comes from: an author without a rank has the base rate, a flagged one 0. */
  rankFrom: 'rank' | 'base_rate' | 'flagged'
  relevance: number
  /** Days since publication. */
  ageDays: number
  /** From 0 to 1, by age. */
  freshness: number
  score: number
}

export interface Slate {
  /** In display order; overflow comes last. */
  entries: Entry[]
  /** 1 if the reviews are good on the whole, −1 if they are bad, else 0. */
  side: number
  /** Undefined: no author has a rank. */
  meanAuthorRank: number | undefined
}

type Scored = Candidate & Omit<Entry, 'slot' | 'reason'>

/** What counts how much in the score of a review. */
export const WEIGHTS = { authorRank: 0.5, relevance: 0.35, freshness: 0.15 }

const HIGHLIGHTS = 2
const BELOW = 'below ranking threshold'

export function slateOf(candidates: readonly Candidate[], type: ProductType, now: Date): Slate {
  const scored = candidates.map((candidate) => scoredOf(candidate, type, now)).sort(bestFirst)
  const heard = scored.filter((review) => !exclusionOf(review, now))
  const left = new Set(heard)
  const takeBest = (isFit: (review: Scored) => boolean): Scored[] => {
    const best = [...left].find(isFit)
    if (!best) return []
    left.delete(best)
    return [best]
  }

  const newcomer = takeBest(({ flagged, rank }) => !flagged && rank === null)
  const side = sideOf(heard)
  const dissent = takeBest((review) => side !== 0 && sideOf([review]) === -side)
  const rest = [...left]
  return {
    entries: [
      ...rest.slice(0, HIGHLIGHTS).map((review) => entryOf(review, 'highlight')),
      ...newcomer.map((review) => entryOf(review, 'newcomer')),
      ...dissent.map((review) => entryOf(review, 'dissent')),
      ...scored.flatMap((review) => {
        const reason = exclusionOf(review, now)
        return reason ? [entryOf(review, 'excluded', reason)] : []
      }),
      ...rest.slice(HIGHLIGHTS).map((review) => entryOf(review, 'overflow', BELOW)),
    ],
    side,
    meanAuthorRank: meanRankOf(heard),
  }
}

function scoredOf(candidate: Candidate, type: ProductType, now: Date): Scored {
  const { flagged, rank, relevance, publishedAt } = candidate
  const authorRank = effectiveRank(flagged, rank) ?? BASE_RATES[type]
  const rankFrom = flagged ? 'flagged' : rank === null ? 'base_rate' : 'rank'
  // Counted in whole days, so that the same request gets the same answer all day.
  const ageDays = Math.max(dayOf(now) - dayOf(publishedAt), 0)
  const freshness = 2 ** (-ageDays / HALF_LIFE_DAYS)
  const score =
    WEIGHTS.authorRank * authorRank + WEIGHTS.relevance * relevance + WEIGHTS.freshness * freshness
  return { ...candidate, authorRank, rankFrom, ageDays, freshness, score }
}

const bestFirst = (a: Scored, b: Scored) => b.score - a.score || (a.internalId < b.internalId ? -1 : 1)

function exclusionOf({ isOwn, transferredAt }: Candidate, now: Date): string | undefined {
  if (isOwn) return 'self_review'
  const isNew = transferredAt !== null && now.getTime() - transferredAt.getTime() < COOLDOWN_MS
  return isNew ? 'transfer_cooldown' : undefined
}

/** 1 if the mean satisfaction is above one half, −1 if below, else 0. */
function sideOf(reviews: readonly Candidate[]): number {
  // Ratings are multiples of 1/4, so floating-point sums are exact.
  return Math.sign(reviews.reduce((sum, { satisfaction }) => sum + (satisfaction ?? 0.5) - 0.5, 0))
}

/** The mean over authors; each author counts once. */
function meanRankOf(reviews: readonly Candidate[]): number | undefined {
  const ranks = new Map<bigint, number>()
  for (const { agentId, flagged, rank } of reviews) {
    const counts = effectiveRank(flagged, rank)
    if (counts !== null) ranks.set(agentId, counts)
  }
  if (ranks.size === 0) return undefined
  // Sorted, so that the floating-point sum does not depend on the order of reviews.
  const inOrder = [...ranks.values()].sort((a, b) => a - b)
  return inOrder.reduce((sum, rank) => sum + rank, 0) / ranks.size
}

const entryOf = (
  { internalId, authorRank, rankFrom, relevance, ageDays, freshness, score }: Scored,
  slot: Slot,
  reason?: string,
): Entry => ({ internalId, slot, reason, authorRank, rankFrom, relevance, ageDays, freshness, score })
