// The owners and wallets of the agents of a purchase, and the rule against self-referral.
import { Attribution } from '@referrer/protocol'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, encodeFunctionData, isAddressEqual, pad, zeroAddress } from 'viem'
import type { Chain } from '../context.ts'
import type { Call, Outcome } from '../onchain/probe.ts'
import { invalidPayment, Refused } from '../payment/refused.ts'

type Parties = Pick<Attribution.Attribution, 'reviewerAgentId' | 'buyerAgentId'>

/** By agent. */
export interface AgentAccounts {
  owners: ReadonlyMap<bigint, Address>
  wallets: ReadonlyMap<bigint, Address>
}

export const READ_GAS = 100_000n

export function agentsOf(purchases: Parties[]): bigint[] {
  const agents = new Set(
    purchases.flatMap(({ reviewerAgentId, buyerAgentId }) => [reviewerAgentId, buyerAgentId]),
  )
  agents.delete(Attribution.AGENTLESS_BUYER_ID)
  return [...agents]
}

/** Two for each agent; `readParties` reads what they return. */
export function partyCalls({ contracts }: Chain, agents: bigint[]): Call[] {
  const call = (functionName: 'ownerOf' | 'getAgentWallet', agentId: bigint): Call => ({
    target: contracts.IdentityRegistry,
    gas: READ_GAS,
    data: encodeFunctionData({ abi: identityRegistryAbi, functionName, args: [agentId] }),
  })
  return agents.flatMap((agentId) => [call('ownerOf', agentId), call('getAgentWallet', agentId)])
}

export function readParties(agents: bigint[], outcomes: readonly Outcome[]): AgentAccounts {
  const accounts = (offset: number) =>
    new Map(
      agents.flatMap((agentId, at): [bigint, Address][] => {
        const account = accountIn(outcomes[at * 2 + offset])
        return account ? [[agentId, account]] : []
      }),
    )
  return { owners: accounts(0), wallets: accounts(1) }
}

/** Nobody earns by buying through a link of their own, and nobody buys in the name of somebody else's agent. */
export function judgeParties(
  payer: Address,
  { reviewerAgentId, buyerAgentId }: Parties,
  { owners, wallets }: AgentAccounts,
): Refused | undefined {
  const isSame = (one: Address | undefined, other: Address | undefined) =>
    one !== undefined && other !== undefined && isAddressEqual(one, other)
  const reviewer = owners.get(reviewerAgentId)
  if (buyerAgentId !== Attribution.AGENTLESS_BUYER_ID) {
    const owner = owners.get(buyerAgentId)
    if (!owner) return invalidPayment(`buyerAgentId ${buyerAgentId} is no agent`)
    if (!isSame(owner, payer) && !isSame(wallets.get(buyerAgentId), payer)) {
      return invalidPayment(
        `buyerAgentId ${buyerAgentId} is not the payer's agent: pay from its owner's or its own wallet`,
      )
    }
    if (isSame(owner, reviewer)) {
      return new Refused('self_referral', 'the buying agent and the reviewer have the same owner')
    }
  }
  if (isSame(reviewer, payer) || isSame(wallets.get(reviewerAgentId), payer)) {
    return new Refused('self_referral', 'the buyer wrote the review of this link')
  }
  return undefined
}

function accountIn(outcome: Outcome | undefined): Address | undefined {
  if (!outcome?.ok || outcome.data.length < 66) return undefined
  const account = pad(`0x${outcome.data.slice(26, 66)}`, { size: 20 })
  return isAddressEqual(account, zeroAddress) ? undefined : account
}
