// Whether the router would split a deposit now, and whether it should.
import type { Chain } from '../context.ts'
import { invalidPayment, Refused } from '../payment/refused.ts'
import { toSplitDeposit } from '../settlement/order.ts'
import { agentsOf, judgePeople, peopleCalls, readPeople } from '../settlement/people.ts'
import { probe } from '../settlement/probe.ts'
import { explainRevert } from '../settlement/revert.ts'
import { GAS_PER_PURCHASE } from '../settlement/simulation.ts'
import type { Deposit } from '../settlement/types.ts'

/** It was charged before, so that its money is gone; the settler knows what became of it. */
const DONE = new Set(['PaymentAlreadySplit', 'PaymentAlreadyRefunded', 'NotEnoughUnsplit'])

/** Why the money has to go back; undefined: it can be split. Throws `Refused` for what the payer can put right, or what may pass. */
export async function tryDeposit(chain: Chain, deposit: Deposit): Promise<Refused | undefined> {
  const { attribution, charge } = deposit
  const agents = agentsOf([attribution])
  const split = {
    target: chain.contracts.SplitRouter,
    gas: GAS_PER_PURCHASE,
    data: toSplitDeposit(deposit).data,
  }
  const { outcomes } = await probe(chain, chain.relayers[0].address, [...peopleCalls(chain, agents), split])
  const refusal = judgePeople(charge.payer, attribution, readPeople(agents, outcomes))
  if (refusal?.reason === 'self_referral') return refusal
  if (refusal) throw refusal

  const outcome = outcomes[agents.length * 2]
  if (outcome?.ok) return undefined
  const { name, message, isForGood } = explainRevert(outcome?.data ?? '0x')
  if (name !== undefined && DONE.has(name)) return undefined
  if (name === 'SelfReferral') return new Refused('self_referral', message)
  if (name === 'InvalidSignature') throw invalidPayment('buyerSignature is not accepted by the payer')
  if (isForGood) return new Refused('settle_failed', message)
  throw new Refused('settle_failed', message, { retryable: true })
}
