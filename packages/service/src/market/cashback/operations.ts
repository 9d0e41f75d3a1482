import type { Chain, Context } from '../../kit/context.ts'
import { refused } from '../../kit/market-error.ts'
import { type Proof, proposeCommitment, requireSigned, type Terms } from '../commitments/operations.ts'
import { writeRate } from './store.ts'

export const HIGHEST_BPS = 4_000

/** What an agent gives buyers of its commission. */
export interface Pledge {
  agentId: bigint
  /** Basis points of the commission, never of the price. */
  bps: number
}

/** Step 1. Nothing is looked up and nothing is kept. */
export function proposeRate(context: Context, chain: Chain, pledge: Pledge) {
  checkRate(pledge)
  return proposeCommitment(context, chain, 'CashbackRateCommitment', termsOf(pledge))
}

/** Step 2. Holds for reviews that enter the records from now on; what was signed may come again and then holds again. */
export async function setRate(context: Context, chain: Chain, pledge: Pledge, proof: Proof): Promise<void> {
  checkRate(pledge)
  await requireSigned(context, chain, 'CashbackRateCommitment', termsOf(pledge), proof)
  await writeRate(context.sql, chain.config.chainId, { ...pledge, at: new Date(context.clock()) })
}

function checkRate({ bps }: Pledge): void {
  if (bps <= HIGHEST_BPS) return
  const most = `${HIGHEST_BPS} bps (${HIGHEST_BPS / 100}%)`
  throw refused('invalid input', `cashback rate ${bps} bps exceeds maximum ${most}`)
}

const termsOf = ({ agentId, bps }: Pledge): Terms<'CashbackRateCommitment'> => ({
  agentId,
  cashbackOfCommissionBps: bps,
})
