// arrived → checked, taken or refused: money that is in the router is split, or is its payer's to take back.
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { encodeFunctionData } from 'viem'
import type { Chain } from '../context.ts'
import { probe } from '../onchain/probe.ts'
import { forNow, Refused } from '../payment/refused.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { partiesOf, READ_GAS } from './parties.ts'
import { notSigned, wentBack } from './refusals.ts'
import { explainRevert } from './revert.ts'
import { GAS_OF_WALLET } from './simulation.ts'
import type { Next } from './states.ts'

export async function approveArrived(
  chain: Chain,
  attempt: Attempt,
  { refusal, notBefore = 0 }: In<'arrived'>,
): Promise<In<Next<'arrived'>>> {
  attempt.hasArrived = true
  const { CommissionEscrow, SplitRouter } = chain.contracts
  const { payer, nonce } = attempt.key
  const order = attempt.toSplit()
  const purchase = { payer, attribution: order.attribution }
  const parties = partiesOf(chain, [purchase])
  const escrowOf = { abi: commissionEscrowAbi, functionName: 'escrowOf', args: [payer, nonce] } as const
  const { outcomes } = await probe(chain, chain.relayerPool.available()[0], [
    ...parties.calls,
    { target: CommissionEscrow, gas: READ_GAS, data: encodeFunctionData(escrowOf) },
    { target: SplitRouter, gas: GAS_OF_WALLET, data: order.data },
  ])
  const [escrow, split] = outcomes.slice(parties.calls.length)
  if (escrow?.ok && BigInt(escrow.data.slice(0, 66)) !== 0n)
    return { state: 'taken', mayRetry: false, isSplit: true }
  const takenBack = async (why: Refused) => refuse(why.withTakeBack(await attempt.takeBack(0)))
  const { name, message, isForGood } = explainRevert(split?.data ?? '0x')
  if (name === 'PaymentAlreadyRefunded') return refuse(wentBack())
  if (name === 'InvalidSignature') return refuse(notSigned())
  const own = parties.judge(0, outcomes)
  if (own) return takenBack(own)
  const reason = name === 'SelfReferral' ? 'self_referral' : 'settle_failed'
  // A registry that does not answer may never do so again.
  if (isForGood || name === 'RegistryUnreadable')
    return takenBack(new Refused(reason, message, { retryable: !isForGood }))
  if (!split?.ok) return refuse(forNow(message))
  if (refusal) return refuse(refusal.withTakeBack(await attempt.takeBack(notBefore)))
  return { state: 'checked', order, gas: split.gasUsed }
}
