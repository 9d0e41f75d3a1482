// Who stands on the sides of a purchase, and the rules against buying from oneself.
import { Attribution } from '@referrer/protocol'
import { identityRegistryAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  keccak256,
  prepareEncodeFunctionData,
  stringToBytes,
  zeroAddress,
} from 'viem'
import type { Chain } from '../context.ts'
import { accountIn } from '../onchain/identity.ts'
import type { Call, Outcome } from '../onchain/probe.ts'
import { invalidPayment, Refused } from '../payment/refused.ts'

interface Purchase {
  payer: Address
  attribution: Pick<Attribution.Attribution, 'merchantId' | 'reviewerAgentId' | 'buyerAgentId'>
}

/** What has to be read for some purchases, and the judgement of each by what was read. */
export interface Parties {
  calls: Call[]
  /** Of the purchase at this place of the list. */
  judge(which: number, outcomes: readonly Outcome[]): Refused | undefined
}

export const READ_GAS = 100_000n
export const SETTLEMENT_SIGNER_ROLE = keccak256(stringToBytes('SETTLEMENT_SIGNER_ROLE'))

const identity = { abi: identityRegistryAbi } as const
const merchants = { abi: merchantRegistryAbi } as const
const OWNER_OF = prepareEncodeFunctionData({ ...identity, functionName: 'ownerOf' })
const AGENT_WALLET = prepareEncodeFunctionData({ ...identity, functionName: 'getAgentWallet' })
const PAYOUT_WALLET = prepareEncodeFunctionData({ ...merchants, functionName: 'payoutWallet' })
const HAS_ROLE = prepareEncodeFunctionData({ ...merchants, functionName: 'hasRole' })

export function partiesOf({ contracts }: Pick<Chain, 'contracts'>, purchases: Purchase[]): Parties {
  const places = new Map<Hex, number>()
  const calls: Call[] = []
  /** Each is asked once, however many purchases need it. Returns its place. */
  function ask(target: Address, data: Hex): number {
    const place = places.get(data) ?? calls.push({ target, gas: READ_GAS, data }) - 1
    places.set(data, place)
    return place
  }
  const { IdentityRegistry, MerchantRegistry } = contracts
  const owner = (id: bigint) => ask(IdentityRegistry, encodeFunctionData({ ...OWNER_OF, args: [id] }))
  const wallet = (id: bigint) => ask(IdentityRegistry, encodeFunctionData({ ...AGENT_WALLET, args: [id] }))
  const payout = (id: bigint) => ask(MerchantRegistry, encodeFunctionData({ ...PAYOUT_WALLET, args: [id] }))
  const settler = (id: bigint, account: Address) =>
    ask(MerchantRegistry, encodeFunctionData({ ...HAS_ROLE, args: [id, SETTLEMENT_SIGNER_ROLE, account] }))

  const asked = purchases.map((purchase) => {
    const { merchantId, reviewerAgentId, buyerAgentId } = purchase.attribution
    const isAgent = buyerAgentId !== Attribution.AGENTLESS_BUYER_ID
    return {
      buyerAgentId,
      payer: purchase.payer.toLowerCase(),
      sellers: [owner(merchantId), payout(merchantId)],
      isSettler: settler(merchantId, purchase.payer),
      reviewer: { owner: owner(reviewerAgentId), wallet: wallet(reviewerAgentId) },
      buyer: isAgent ? { owner: owner(buyerAgentId), wallet: wallet(buyerAgentId) } : undefined,
    }
  })

  return {
    calls,
    judge(which, outcomes) {
      const { payer, buyerAgentId, sellers, isSettler, reviewer, buyer } = asked[
        which
      ] as (typeof asked)[number]
      const at = (place: number) => accountIn(calls[place], outcomes[place])
      // Whoever is not told could be the payer.
      const people = [...sellers, ...Object.values(reviewer), ...Object.values(buyer ?? {})]
      if (people.some((place) => at(place) === undefined)) return unreadable()
      const isPayer = (place: number) => at(place) === payer
      if (buyer) {
        if (at(buyer.owner) === zeroAddress) return invalidPayment(`buyerAgentId ${buyerAgentId} is no agent`)
        if (!isPayer(buyer.owner) && !isPayer(buyer.wallet))
          return invalidPayment(
            `buyerAgentId ${buyerAgentId} is not the payer's agent: pay from its owner's or its own wallet`,
          )
        if (at(buyer.owner) === at(reviewer.owner))
          return new Refused('self_referral', 'the buying agent and the reviewer have the same owner')
      }
      if (isPayer(reviewer.owner) || isPayer(reviewer.wallet))
        return new Refused('self_referral', 'the buyer wrote the review of this link')
      // What goes back to who paid it costs nobody anything but us.
      if (sellers.some(isPayer) || isTrue(outcomes[isSettler]))
        return invalidPayment(
          'the payer is the merchant: its owner, its payout wallet or one of its settlers',
        )
      return undefined
    },
  }
}

const unreadable = () =>
  new Refused('settle_failed', 'the identity registry does not answer; try again later', { retryable: true })

const isTrue = (outcome: Outcome | undefined) => !!outcome?.ok && BigInt(outcome.data.slice(0, 66)) === 1n
