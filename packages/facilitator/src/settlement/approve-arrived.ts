// arrived → checked, taken or refused: money that is in the router is split, or goes back when it can never be split.
import type { Chain } from '../context.ts'
import { probe } from '../onchain/probe.ts'
import { Refused } from '../payment/refused.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { revertsNow } from './refusals.ts'
import { explainRevert } from './revert.ts'
import { GAS_PER_PURCHASE } from './simulation.ts'
import type { Next } from './states.ts'

/** Reverts that tell that another transaction has split the money or given it back. */
const OVER = new Set<string | undefined>(['PaymentAlreadySplit', 'PaymentAlreadyRefunded'])

export async function approveArrived(
  chain: Chain,
  attempt: Attempt,
  { refusal }: In<'arrived'>,
): Promise<In<Next<'arrived'>>> {
  attempt.hasArrived = true
  attempt.refusal = refusal
  const order = refusal ? attempt.toRefund(refusal.message) : attempt.toSplit()
  const call = { target: chain.contracts.SplitRouter, gas: GAS_PER_PURCHASE, data: order.data }
  const wallets = [attempt.key.payer]
  const { outcomes, haveCode } = await probe(chain, chain.relayerPool.available()[0], [call], { wallets })
  const [outcome] = outcomes
  if (outcome?.ok) return { state: 'checked', order, gas: outcome.gasUsed, hasCode: haveCode[0] === true }
  const { name, message, isForGood } = explainRevert(outcome?.data ?? '0x')
  if (OVER.has(name)) return { state: 'taken', mayRetry: false }
  if (refusal || !isForGood) return refuse(revertsNow(message))
  const reason = name === 'SelfReferral' ? 'self_referral' : 'settle_failed'
  return { state: 'arrived', refusal: new Refused(reason, message) }
}
