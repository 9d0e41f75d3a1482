import type { Rules } from '../rules.ts'
import { type Attack, attacks } from './attacks.ts'

/** A rule, the settings without it, and the attack that it stops. */
export const switches: { rule: string; off: Partial<Rules>; attack: Attack }[] = [
  {
    rule: 'a vote for oneself counts for nothing',
    off: { ownVotesDrop: false },
    attack: attacks.selfVotes,
  },
  { rule: 'an owner is one voter', off: { ownersCount: false }, attack: attacks.manyAgents },
  {
    rule: 'three votes of an owner for an author',
    off: { votesOfPair: Number.POSITIVE_INFINITY },
    attack: attacks.manyVotes,
  },
  {
    rule: "a ballot counts once for an author's owner",
    off: { ballotsCountOnce: false },
    attack: attacks.oneBallot,
  },
  { rule: 'a purchase counts by its size', off: { sizeBy: 'nothing' }, attack: attacks.tinyPurchases },
  { rule: 'size is commission, not price', off: { sizeBy: 'price' }, attack: attacks.noCommission },
  { rule: "nothing counts at one's own shop", off: { ownShopsDrop: false }, attack: attacks.ownersShop },
  {
    rule: 'ten findings of each outcome',
    off: { findingsOfEach: Number.POSITIVE_INFINITY },
    attack: attacks.moreFindings,
  },
  {
    rule: 'one finding a product',
    off: { productsCountOnce: false, findingsOfEach: Number.POSITIVE_INFINITY },
    attack: attacks.sameProduct,
  },
  { rule: 'evidence stays with the owner', off: { evidenceStays: false }, attack: attacks.boughtAgent },
  { rule: 'flagged voters do not count', off: { flagsCount: false }, attack: attacks.flagged },
]
