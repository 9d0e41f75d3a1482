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
  /** More than a newcomer's share of the commission, in basis points. */
  moreBps: number
  purchases: number
  wallets: number
  transactions: number
  /** In base units: what the platform took, and all that left the ring. */
  fees: bigint
  left: bigint
  /** In USDC, of 1,000 USDC of commission (as it is at rank 1). */
  per1000: number
  /** In USDC of such commission: from here on it pays. Null: never. */
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

/** No ring of so many owners gets higher, whatever it pays: every vote in full, every finding in full. */
export function boundOf(owners: number, type: ProductType = TYPE): number {
  const prior = PRIORS[type]
  const evidence = VOTES_OF_PAIR * owners + (FINDINGS_OF_EACH * FINDING_WEIGHTS.confirmed) / MILLION
  return (prior.gain + evidence) / (prior.gain + prior.loss + evidence)
}
