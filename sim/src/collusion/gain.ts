import {
  BASE_RATES,
  FINDING_WEIGHTS,
  FINDINGS_OF_EACH,
  MILLION,
  multiplierBps,
  PRIORS,
  type ProductType,
  VOTES_OF_PAIR,
} from '@referrer/ranking'
import { rankInForce, TERMS } from '../market.ts'
import type { Agent } from '../records.ts'
import type { Rules } from '../rules.ts'
import type { Attack } from './attacks.ts'
import { Ring, TYPE } from './ring.ts'

const BPS = 10_000
const UNITS = 1_000_000

export type Gain = {
  k: number
  rank: number
  multiplierBps: number
  /** The gain over a newcomer's share of the commission, in basis points. */
  moreBps: number
  purchases: number
  wallets: number
  transactions: number
  /** In base units: the fees of the platform, and all money that left the ring. */
  fees: bigint
  left: bigint
  /** Extra income in USDC for each 1,000 USDC of commission (as paid at rank 1). */
  per1000: number
  /** The commission volume in USDC at which the attack breaks even. Null: never. */
  paysFrom: number | null
}

export function gainOf(attack: Attack, k: number, rules: Rules): Gain {
  const ring = new Ring(k, rules)
  const agent: Agent = attack.run(ring, k)
  ring.follow()
  const rank = rankInForce(agent, TYPE)
  const multiplier = multiplierBps(rank)
  const moreBps = multiplier - multiplierBps(BASE_RATES[TYPE])
  const { purchases, wallets, transactions } = ring
  const { left, fees } = ring.settle()
  const share = ((BPS - TERMS.feeBps) / BPS) * (moreBps / BPS)
  return {
    k,
    rank,
    multiplierBps: multiplier,
    moreBps,
    purchases,
    wallets,
    transactions,
    fees,
    left,
    per1000: 1_000 * share,
    paysFrom: share > 0 ? Number(left) / UNITS / share : null,
  }
}

/** The highest rank that a ring of this many owners can reach at any cost: all votes and findings count in full. */
export function boundOf(owners: number, type: ProductType = TYPE): number {
  const prior = PRIORS[type]
  const evidence = VOTES_OF_PAIR * owners + (FINDINGS_OF_EACH * FINDING_WEIGHTS.confirmed) / MILLION
  return (prior.gain + evidence) / (prior.gain + prior.loss + evidence)
}
