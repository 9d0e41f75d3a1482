/** Where a rank begins, by product type, before there is evidence. */
export const BASE_RATES = { repeat: 0.5, one_off: 0.417 } as const

/** What a rank makes of a commission, in basis points: from 0.4 at rank 0 to all of it at rank 1. */
export const multiplierBps = (rank: number): number =>
  Math.round(4_000 + 6_000 * Math.min(Math.max(rank, 0), 1))

/** The rank that counts. Null: not computed yet. */
export const effectiveRank = (flagged: boolean, rank: number | null): number | null => (flagged ? 0 : rank)
