// Whether the router would split a deposit now, and whether it should.
import { commissionEscrowAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { encodeFunctionData } from 'viem'
import type { Chain } from '../context.ts'
import { type Call, type Outcome, probe } from '../onchain/probe.ts'
import { invalidPayment, Refused } from '../payment/refused.ts'
import { keyOfDeposit, toSplitDeposit } from '../settlement/order.ts'
import { partiesOf, READ_GAS } from '../settlement/parties.ts'
import { explainRevert } from '../settlement/revert.ts'
import { GAS_PER_PURCHASE } from '../settlement/simulation.ts'
import type { Deposit } from '../settlement/types.ts'

export type Trial =
  | { type: 'good' }
  /** Its money has been split before, or has gone back to its payer. */
  | { type: 'split' | 'back' }
  /** It can never be split. */
  | { type: 'doomed'; refusal: Refused }

/** Throws `Refused` for what the payer can correct, and for what may be different later. */
export async function tryDeposit(chain: Chain, deposit: Deposit): Promise<Trial> {
  const { attribution, charge } = deposit
  const purchase = { payer: charge.payer, attribution }
  const parties = partiesOf(chain, [purchase])
  const calls = [...endCalls(chain, deposit), splitCall(chain, deposit), ...parties.calls]
  const { outcomes } = await probe(chain, chain.relayerPool.available()[0], calls)
  const [escrow, refunded, split, ...read] = outcomes
  if (isSet(escrow)) return { type: 'split' }
  if (isSet(refunded)) return { type: 'back' }

  const refusal = parties.judge(purchase, read)
  if (refusal) return { type: 'doomed', refusal }
  if (split?.ok) return { type: 'good' }
  const { name, message, isForGood } = explainRevert(split?.data ?? '0x')
  if (name === 'InvalidSignature') throw invalidPayment('buyerSignature is not accepted by the payer')
  if (!isForGood) throw new Refused('settle_failed', message, { retryable: true })
  const reason = name === 'SelfReferral' ? 'self_referral' : 'settle_failed'
  return { type: 'doomed', refusal: new Refused(reason, message) }
}

/** Read whether it has an escrow, and whether it was refunded. */
function endCalls({ contracts }: Chain, deposit: Deposit): Call[] {
  const { payer, nonce } = keyOfDeposit(deposit)
  const args = [payer, nonce] as const
  return [
    {
      target: contracts.CommissionEscrow,
      gas: READ_GAS,
      data: encodeFunctionData({ abi: commissionEscrowAbi, functionName: 'escrowOf', args }),
    },
    {
      target: contracts.SplitRouter,
      gas: READ_GAS,
      data: encodeFunctionData({ abi: splitRouterAbi, functionName: 'refunded', args }),
    },
  ]
}

const splitCall = ({ contracts }: Chain, deposit: Deposit): Call => ({
  target: contracts.SplitRouter,
  gas: GAS_PER_PURCHASE,
  data: toSplitDeposit(deposit).data,
})

/** The first word of what was read. */
const isSet = (outcome: Outcome | undefined) => !!outcome?.ok && BigInt(outcome.data.slice(0, 66)) !== 0n
