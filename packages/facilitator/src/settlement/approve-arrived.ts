// arrived → checked, taken or refused: money that is in the router is split, or is its payer's to take back.
import type { Chain } from '../context.ts'
import { probe } from '../onchain/probe.ts'
import { Refused } from '../payment/refused.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { revertsNow, wentBack } from './refusals.ts'
import { explainRevert } from './revert.ts'
import { GAS_PER_PURCHASE } from './simulation.ts'
import type { Next } from './states.ts'
import { withTakeBack } from './take-back.ts'

export async function approveArrived(
  chain: Chain,
  attempt: Attempt,
  { refusal }: In<'arrived'>,
): Promise<In<Next<'arrived'>>> {
  attempt.hasArrived = true
  if (refusal) return refuse(await withTakeBack(chain, attempt.payment, refusal))
  const order = attempt.toSplit()
  const call = { target: chain.contracts.SplitRouter, gas: GAS_PER_PURCHASE, data: order.data }
  const { outcomes } = await probe(chain, chain.relayerPool.available()[0], [call])
  const [outcome] = outcomes
  if (outcome?.ok) return { state: 'checked', order, gas: outcome.gasUsed }
  const { name, message, isForGood } = explainRevert(outcome?.data ?? '0x')
  if (name === 'PaymentAlreadySplit') return { state: 'taken', mayRetry: false }
  if (name === 'PaymentAlreadyRefunded') return refuse(wentBack())
  if (!isForGood) return refuse(revertsNow(message))
  const reason = name === 'SelfReferral' ? 'self_referral' : 'settle_failed'
  return refuse(await withTakeBack(chain, attempt.payment, new Refused(reason, message)))
}
