// The arithmetic of ranks. Shares and weights are integers in millionths, so that their sums are exact in any order
// of addition.

/** The index of each type is its number in the contracts. */
export const PRODUCT_TYPES = ['repeat', 'one_off'] as const
export type ProductType = (typeof PRODUCT_TYPES)[number]

export const MILLION = 1_000_000

/** The rank that is assumed before there is evidence, by product type. */
export const BASE_RATES = { repeat: 0.5, one_off: 0.417 } as const

/** The prior of a rank: this much gain and loss counts as if it were evidence. */
export const PRIORS = { repeat: { gain: 6, loss: 6 }, one_off: { gain: 5, loss: 7 } } as const

export const HALF_LIFE_DAYS = 180
/** An agent with less evidence than this (in millionths) is at its cold start and has no rank. */
const LEAST_EVIDENCE = MILLION / 2
/** How many votes of one owner for one author count: the newest ones, each on a different review. */
export const VOTES_OF_PAIR = 3
/** How many findings of each outcome count for an author: the newest ones. */
export const FINDINGS_OF_EACH = 10
export const FINDING_WEIGHTS = { confirmed: 2 * MILLION, contradicted: 3 * MILLION } as const
/** Weight of the mean of all products, from which each product's rank begins, compared with the weight of opinions. */
const PRODUCT_PRIOR = 5 * MILLION

/** The part of the commission that a rank earns, in basis points: 0.4 of it at rank 0, all of it at rank 1. */
export const multiplierBps = (rank: number): number =>
  Math.round(4_000 + 6_000 * Math.min(Math.max(rank, 0), 1))

/** A flagged agent has rank 0. Null: the rank is not computed yet. */
export const effectiveRank = (flagged: boolean, rank: number | null): number | null => (flagged ? 0 : rank)

const DAY_MS = 86_400_000

/** Days since 1970-01-01, in UTC. */
export const dayOf = (at: Date): number => Math.floor(at.getTime() / DAY_MS)

/** The date of a `dayOf` number, as YYYY-MM-DD. */
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** 2^(day / half-life) as an integer. The fraction of a half-life has 40 bits, so that all machines round alike. */
const PARTS = Array.from({ length: HALF_LIFE_DAYS }, (_, day) =>
  BigInt(Math.round(2 ** (40 + day / HALF_LIFE_DAYS))),
)
export const inflationOf = (day: number): bigint =>
  (PARTS[day % HALF_LIFE_DAYS] ?? 0n) << BigInt(Math.floor(day / HALF_LIFE_DAYS))

/**
 * Scales a weight up by its day. Weights of different days can then be added, and one `deflate` of the sum ages them
 * all.
 */
export const inflate = (weight: number | bigint, day: number): bigint => BigInt(weight) * inflationOf(day)

/** The value of a sum of inflated weights on a day, in millionths. */
export const deflate = (sum: bigint, day: number): number => Number((sum << 20n) / inflationOf(day)) / 2 ** 20

/**
 * The rank from evidence for and against, in millionths as of the day in question. Null: there is too little
 * evidence.
 */
export function rankOf(type: ProductType, { gain, loss }: { gain: number; loss: number }): number | null {
  if (gain + loss < LEAST_EVIDENCE) return null
  const prior = PRIORS[type]
  return (prior.gain * MILLION + gain) / ((prior.gain + prior.loss) * MILLION + gain + loss)
}

/**
 * The size of a purchase by the commission it paid, where `full` is the commission that counts in full. Without
 * commission it is 0, so that money sent in circles earns no weight.
 */
export const sizeOf = (commission: bigint, full: bigint): number =>
  commission >= full ? MILLION : Number((commission * BigInt(MILLION)) / full)

/** The weight of a vote, from the voter's rank and the size of the purchase. */
export const voteWeight = (voterRank: number, size: number): number =>
  Math.round((0.25 + 0.75 * voterRank) * size)

/** The weight of a buyer's opinion in the rank of a product. */
export const opinionWeight = (authorRank: number, size: number): number => Math.round(authorRank * size)

/** The weight of a finding in the rank of the author, from the mean size of the purchases behind it. */
export const findingWeight = (outcome: keyof typeof FINDING_WEIGHTS, size: number): number =>
  Math.round((FINDING_WEIGHTS[outcome] * size) / MILLION)

/** The rank of a product in millionths, from its opinions and the mean of all products. */
export function productRank(
  mean: number,
  { weight, weighted }: { weight: bigint; weighted: bigint },
): number {
  const prior = BigInt(PRODUCT_PRIOR)
  const total = prior + weight
  // Adding half of the divisor rounds to the nearest integer.
  return Number((prior * BigInt(mean) + weighted + total / 2n) / total)
}
