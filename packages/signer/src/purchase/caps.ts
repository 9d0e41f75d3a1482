// How much may be paid: by the caller's word, by the owner's caps, and by the balance.
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import type { PrivateKeyAccount } from 'viem'
import { z } from 'zod'
import { withBackend } from '../backend.ts'
import type { Chain, Market } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import { Refused } from '../refused.ts'
import { signExpected } from '../sign-commitment.ts'
import type { Order } from './order.ts'

const Step1 = z.object({ commitment: z.unknown(), nonce: z.string(), expiry: z.int() })
const Budget = z.object({
  per_tx_cap_usdc: z.int().nullish(),
  remaining_budget: z.int().nullish(),
  budget_enforced: z.boolean(),
})

/** What nobody could tell, for the caller to know. */
export async function requireAffordable(
  context: Context,
  chain: Chain,
  { usdc }: Market,
  account: PrivateKeyAccount,
  { agentId, maxAmount }: Order,
  price: bigint,
): Promise<string[]> {
  if (maxAmount !== undefined && price > maxAmount) {
    throw new Refused(`live price ${price} exceeds max_amount ${maxAmount}; nothing was paid`)
  }
  const notes = agentId === undefined ? [] : await requireWithinCaps(context, chain, account, agentId, price)
  const balance = await chain.client.readContract({
    address: usdc,
    abi: sandboxUSDCAbi,
    functionName: 'balanceOf',
    args: [account.address],
  })
  if (balance < price) {
    throw new Refused(
      `the price is ${price} and ${account.address} has ${balance} base units of USDC: send it more; nothing was paid`,
    )
  }
  return notes
}

async function requireWithinCaps(
  context: Context,
  chain: Chain,
  account: PrivateKeyAccount,
  agentId: string,
  price: bigint,
): Promise<string[]> {
  const budget = await readBudget(context, chain, account, agentId).catch(() => undefined)
  if (!budget) {
    return ["The owner's spending caps could not be read before paying: check them before the next purchase."]
  }
  const { per_tx_cap_usdc: cap, remaining_budget: remaining, budget_enforced: isEnforced } = budget
  if (typeof cap === 'number' && price > BigInt(cap)) {
    throw new Refused(
      `the price ${price} exceeds the owner's cap of ${cap} for one purchase; nothing was paid`,
    )
  }
  if (isEnforced && typeof remaining === 'number' && price > BigInt(remaining)) {
    throw new Refused(
      `the price ${price} exceeds the owner's remaining budget of ${remaining}; nothing was paid`,
    )
  }
  return []
}

function readBudget(
  context: Context,
  { chainId }: Chain,
  account: PrivateKeyAccount,
  agentId: string,
): Promise<z.output<typeof Budget>> {
  const who = { agent_id: Number(agentId), chain_id: chainId }
  return withBackend(context, async (ask) => {
    const { commitment, nonce, expiry } = Step1.parse(await ask('get_pending_intents', who))
    const agent_sig = await signExpected(account, 'IntentAccessCommitment', commitment, {
      chainId,
      message: { agentId },
    })
    return Budget.parse(await ask('get_pending_intents', { ...who, nonce, expiry, agent_sig }))
  })
}
