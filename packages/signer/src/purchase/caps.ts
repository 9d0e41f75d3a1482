// Limits on the price: the caller's maximum, the signer's own limits, the owner's caps at the marketplace, and the balance.
import { RequestSignature } from '@referrer/protocol'
import { commissionEscrowAbi, identityRegistryAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { type Address, isAddressEqual, type LocalAccount } from 'viem'
import { z } from 'zod'
import type { Chain, Market } from '../chain/chain.ts'
import { isRevert } from '../chain/reverts.ts'
import { marketUrl } from '../config.ts'
import type { Context } from '../context.ts'
import { explain, NotBought, NotSold, Refused } from '../refused.ts'
import { jsonOf } from './link.ts'
import type { Order } from './order.ts'

const MAX_BYTES = 64 * 1024
const Budget = z
  .object({
    per_tx_cap_usdc: z.int().min(0).nullable(),
    remaining_budget: z.int().min(0).nullable(),
    budget_enforced: z.boolean(),
    as_of_block: z.int().min(0),
  })
  .refine((budget) => !budget.budget_enforced || budget.remaining_budget !== null)

/** What remains of the caps of a wallet, as of a block. */
export interface Budget {
  owner: Address
  /** Null when no daily or total cap is set. */
  remaining: bigint | null
  asOfBlock: number
}

export interface Affordable {
  /** The owner of the buying agent, when it is not the wallet that pays. */
  agentOwner: Address | null
  /** The caps that apply to this purchase. */
  budgets: Budget[]
  /** What could not be checked. */
  notes: string[]
}

export async function requireAffordable(
  context: Context,
  chain: Chain,
  market: Market,
  account: LocalAccount,
  { agentId, maxAmount }: Order,
  price: bigint,
): Promise<Affordable> {
  if (maxAmount !== undefined && price > maxAmount) {
    throw new NotSold(`live price ${price} exceeds max_amount ${maxAmount}; nothing was paid`)
  }
  const { MAX_PER_PURCHASE: most } = context.config
  if (most !== undefined && price > most) {
    throw new NotBought(
      `the price ${price} exceeds what this signer pays for one purchase, ${most} USDC base units: its operator can raise MAX_PER_PURCHASE; nothing was paid`,
    )
  }
  const owner = await ownerOf(chain, market, agentId)
  const agentOwner = owner && !isAddressEqual(owner, account.address) ? owner : null
  const capped: Pick<Affordable, 'budgets' | 'notes'> = { budgets: [], notes: [] }
  for (const wallet of [account.address, ...(agentOwner ? [agentOwner] : [])]) {
    const budget = await readBudget(context, chain, wallet, price).catch((error: unknown) => {
      if (error instanceof OverCap) throw error
      return explain(error)
    })
    if (typeof budget !== 'string') capped.budgets.push(budget)
    else capped.notes.push(unreadable(context, wallet, budget))
  }
  const balance = await chain.client.readContract({
    address: market.usdc,
    abi: sandboxUSDCAbi,
    functionName: 'balanceOf',
    args: [account.address],
  })
  if (balance < price) {
    throw new Refused(
      `the price is ${price} and ${account.address} has ${balance} USDC base units: send it more; nothing was paid`,
    )
  }
  return { agentOwner, ...capped }
}

/** The price exceeds a cap. */
export class OverCap extends NotBought {}

function unreadable({ config }: Context, wallet: Address, why: string): string {
  if (config.ALLOW_UNREADABLE_CAPS) {
    return `The spending caps of ${wallet} could not be read before paying (${why}): check them before the next purchase.`
  }
  throw new Refused(
    `the spending caps of ${wallet} cannot be read (${why}): try again later, or let the operator of the signer set ALLOW_UNREADABLE_CAPS=true to pay without them; nothing was paid`,
  )
}

/** Undefined when no agent buys, or the agent does not exist. */
async function ownerOf(
  { client }: Chain,
  { escrow }: Market,
  agentId: string | undefined,
): Promise<Address | undefined> {
  if (agentId === undefined) return undefined
  const address = await client.readContract({
    address: escrow,
    abi: commissionEscrowAbi,
    functionName: 'IDENTITIES',
  })
  return client
    .readContract({ address, abi: identityRegistryAbi, functionName: 'ownerOf', args: [BigInt(agentId)] })
    .catch((error: unknown) => {
      if (isRevert(error)) return undefined
      throw error
    })
}

/** Reads what remains of the caps; the request is signed, because only the wallet itself may read them. */
async function readBudget(
  context: Context,
  { chainId }: Chain,
  wallet: Address,
  price: bigint,
): Promise<Budget> {
  const account = context.config.keys.all.find(({ address }) => isAddressEqual(address, wallet))
  if (!account) {
    throw new Refused('it owns the buying agent, and the signer has no key of it to ask the marketplace with')
  }
  const url = new URL(`${marketUrl(context.config)}/v1/spending-limits/budget?chain_id=${chainId}`)
  const signed = await RequestSignature.sign(account, '', Math.floor(context.now() / 1_000))
  const { status, body } = await context
    .get(url, {
      headers: RequestSignature.serialize(signed),
      timeoutMs: context.timeouts.answer,
      maxBytes: MAX_BYTES,
      isOurs: true,
    })
    .catch(() => {
      throw new Refused('the marketplace at REFERRER_AGENT_MCP_URL does not answer')
    })
  const budget = status === 200 ? Budget.safeParse(jsonOf(body)).data : undefined
  if (!budget) throw new Refused(`the marketplace answers ${status} without a budget`)
  const { per_tx_cap_usdc: cap, remaining_budget: remaining, as_of_block: asOfBlock } = budget
  if (cap !== null && price > BigInt(cap)) {
    throw new OverCap(
      `the price ${price} exceeds the owner's cap of ${cap} USDC base units for one purchase of ${wallet}: the owner can raise it at the marketplace; nothing was paid`,
    )
  }
  return { owner: wallet, remaining: remaining === null ? null : BigInt(remaining), asOfBlock }
}
