// The arithmetic of ranks. Shares and weights are whole millionths, so that sums of them are exact in whatever order they are made.

/** By the number that the chain gives them. */
export const PRODUCT_TYPES = ['repeat', 'one_off'] as const
export type ProductType = (typeof PRODUCT_TYPES)[number]

export const MILLION = 1_000_000

/** Where a rank begins, by product type, before there is evidence. */
export const BASE_RATES = { repeat: 0.5, one_off: 0.417 } as const

/** What a rank begins from, as if it were evidence. */
export const PRIORS = { repeat: { gain: 6, loss: 6 }, one_off: { gain: 5, loss: 7 } } as const

export const HALF_LIFE_DAYS = 180
/** With less evidence than this, in millionths, an agent is at its cold start. */
const LEAST_EVIDENCE = MILLION / 2
/** Votes of one owner for one author that count: the newest, each on another review. */
export const VOTES_OF_PAIR = 3
/** Findings for an author that count: the newest so many of each outcome. */
export const FINDINGS_OF_EACH = 10
export const FINDING_WEIGHTS = { confirmed: 2 * MILLION, contradicted: 3 * MILLION } as const
/** What a product begins from counts as so much weight of opinions. */
const PRODUCT_PRIOR = 5 * MILLION

/** What a rank makes of a commission, in basis points: from 0.4 at rank 0 to all of it at rank 1. */
export const multiplierBps = (rank: number): number =>
  Math.round(4_000 + 6_000 * Math.min(Math.max(rank, 0), 1))

/** The rank that counts. Null: not computed yet. */
export const effectiveRank = (flagged: boolean, rank: number | null): number | null => (flagged ? 0 : rank)

const DAY_MS = 86_400_000

/** Since 1970, UTC. */
export const dayOf = (at: Date): number => Math.floor(at.getTime() / DAY_MS)

/** Such a day as YYYY-MM-DD. */
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** 2^(day / half-life) as a whole number: 40 bits for the part of a half-life, so that every machine rounds alike. */
const PARTS = Array.from({ length: HALF_LIFE_DAYS }, (_, day) =>
  BigInt(Math.round(2 ** (40 + day / HALF_LIFE_DAYS))),
)
const inflation = (day: number): bigint =>
  (PARTS[day % HALF_LIFE_DAYS] ?? 0n) << BigInt(Math.floor(day / HALF_LIFE_DAYS))

/** A weight of a day, so that it can be added to those of all other days. */
export const inflate = (weight: number, day: number): bigint => BigInt(weight) * inflation(day)

/** What such a sum is worth on a day, in millionths. */
export const deflate = (sum: bigint, day: number): number => Number((sum << 20n) / inflation(day)) / 2 ** 20

/** Evidence for and against, in millionths as of the day asked for. Null: too little. */
export function rankOf(type: ProductType, { gain, loss }: { gain: number; loss: number }): number | null {
  if (gain + loss < LEAST_EVIDENCE) return null
  const prior = PRIORS[type]
  return (prior.gain * MILLION + gain) / ((prior.gain + prior.loss) * MILLION + gain + loss)
}

/** How much of a full purchase this is, by the commission it paid: money that goes round in circles pays none. */
export const sizeOf = (commission: bigint, full: bigint): number =>
  commission >= full ? MILLION : Number((commission * BigInt(MILLION)) / full)

/** What a vote is worth: the voter's rank counts, and the size of the purchase. */
export const voteWeight = (voterRank: number, size: number): number =>
  Math.round((0.25 + 0.75 * voterRank) * size)

/** What a buyer's opinion is worth to a product. */
export const opinionWeight = (authorRank: number, size: number): number => Math.round(authorRank * size)

/** What a finding is worth to the author, by the mean size of the purchases that it rests on. */
export const findingWeight = (outcome: keyof typeof FINDING_WEIGHTS, size: number): number =>
  Math.round((FINDING_WEIGHTS[outcome] * size) / MILLION)

/** In millionths, from opinions and the mean of all products. */
export function productRank(
  mean: number,
  { weight, weighted }: { weight: bigint; weighted: bigint },
): number {
  const prior = BigInt(PRODUCT_PRIOR)
  const total = prior + weight
  // Rounded to the nearest.
  return Number((prior * BigInt(mean) + weighted + total / 2n) / total)
}
