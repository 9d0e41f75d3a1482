import { FINDINGS_OF_EACH, MILLION, sizeOf, VOTES_OF_PAIR } from '@referrer/ranking'

/** The rules that a ring has to overcome. Each can be switched off, to show which attack it stops. */
export type Rules = {
  /** The measure for the size of a purchase. */
  sizeBy: 'commission' | 'price' | 'nothing'
  /** In base units: from this amount on a purchase counts in full. */
  full: bigint
  /** A vote for an agent of the voter's own owner does not count. */
  ownVotesDrop: boolean
  /** Votes and opinions at a shop of the voter's or the author's owner do not count. */
  ownShopsDrop: boolean
  /** All agents of one owner count as one voter with one opinion. */
  ownersCount: boolean
  votesOfPair: number
  /** Of several votes on one ballot for agents of the same owner, only the first counts. */
  ballotsCountOnce: boolean
  findingsOfEach: number
  /** Of several findings on one product, only the newest counts. */
  productsCountOnce: boolean
  /** Opinions weigh as much as their purchases when reviews are compared with them. */
  opinionsWeigh: boolean
  /** Evidence stays with the owner under whom it was earned, and does not go to the next owner. */
  evidenceStays: boolean
  /** Votes and opinions of a flagged agent do not count. */
  flagsCount: boolean
  /** Votes, opinions and an author's evidence count by standing. Only if a shop is verified. */
  standingCounts: boolean
  /** A rank above the prior needs support for the author's sales. Only if a shop is verified. */
  salesNeedCover: boolean
}

export const THE_RULES: Rules = {
  sizeBy: 'commission',
  full: 10_000n,
  ownVotesDrop: true,
  ownShopsDrop: true,
  ownersCount: true,
  votesOfPair: VOTES_OF_PAIR,
  ballotsCountOnce: true,
  findingsOfEach: FINDINGS_OF_EACH,
  productsCountOnce: true,
  opinionsWeigh: true,
  evidenceStays: true,
  flagsCount: true,
  standingCounts: true,
  salesNeedCover: true,
}

export function sizeBy({ sizeBy, full }: Rules, price: bigint, commission: bigint): number {
  switch (sizeBy) {
    case 'commission':
      return sizeOf(commission, full)
    case 'price':
      return sizeOf(price, full)
    case 'nothing':
      return MILLION
  }
}
