import { FINDINGS_OF_EACH, MILLION, sizeOf, VOTES_OF_PAIR } from '@referrer/ranking'

/** The rules that a ring runs into. Each can be switched off, to see which attack it stops. */
export type Rules = {
  /** What tells the size of a purchase. */
  sizeBy: 'commission' | 'price' | 'nothing'
  /** In base units: from here on a purchase counts in full. */
  full: bigint
  /** A vote for an agent of the voter's own owner counts for nothing. */
  ownVotesDrop: boolean
  /** So does what happens at a merchant of the voter's or the author's owner. */
  ownShopsDrop: boolean
  /** Two agents of one owner are one voter and have one opinion. */
  ownersCount: boolean
  votesOfPair: number
  /** Of the votes of one ballot for agents of one owner the first counts. */
  ballotsCountOnce: boolean
  findingsOfEach: number
  /** Of several findings on one product the newest counts. */
  productsCountOnce: boolean
  /** Reviews are compared with opinions as heavy as their purchases. */
  opinionsWeigh: boolean
  /** What an agent earned under one owner is not the next one's. */
  evidenceStays: boolean
  /** Votes of a flagged agent, and its opinions, do not count. */
  flagsCount: boolean
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
