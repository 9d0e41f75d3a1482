import type { Chain, Context } from '../../kit/context.ts'
import { refused } from '../../kit/market-error.ts'
import { type Proof, proposeCommitment, requireSigned, type Terms } from '../commitments/operations.ts'
import { writeRate } from './store.ts'

export const HIGHEST_BPS = 4_000

/** The share of its commission that an agent gives to buyers. */
export interface Pledge {
  agentId: bigint
  /** Share in basis points of the commission, not of the price. */
  bps: number
}

/** Step 1: returns the commitment to sign, without any read or write. */
export function proposeRate(context: Context, chain: Chain, pledge: Pledge) {
  checkRate(pledge)
  return proposeCommitment(context, chain, 'CashbackRateCommitment', termsOf(pledge))
}

/** Step 2: sets the rate for reviews that are stored from now on. The same signed commitment may be sent again and is applied again. */
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
