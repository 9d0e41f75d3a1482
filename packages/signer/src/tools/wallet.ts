import { commissionEscrowAbi, identityRegistryAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { BaseError, ContractFunctionRevertedError, isAddressEqual, type PrivateKeyAccount } from 'viem'
import { z } from 'zod'
import { type Chain, connect, type Market, readMarket } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import { id, time } from '../fields.ts'
import type { AgentKey } from '../keys.ts'
import { listAllOpen } from '../purchase/journal.ts'
import { explain } from '../refused.ts'
import { tool } from '../tool.ts'

const Wallet = z.object({
  agent_id: z
    .string()
    .nullable()
    .describe('Null: the key for all other agents and for purchases without one.'),
  address: z.string().nullable(),
  eth_wei: z.string().nullable(),
  usdc: z.string().nullable().describe('Base units.'),
  owns_agent: z.boolean().nullable().describe('Whether the address owns the agent on the chain.'),
  problem: z.string().nullable(),
})

export const walletStatus = tool({
  name: 'get_wallet_status',
  title: 'The wallets of this signer',
  description:
    'Tells for which agents the signer has keys, their addresses and balances (USDC pays for products, ETH for the gas of publish_escrow_review, bind_escrow and the like), whether each address owns its agent, and which purchases were signed without an outcome so far. Use it first, and whenever a payment failed in a way that is not clear. It never shows keys. What cannot be read is null, and problem says why.',
  input: z.strictObject({ agent_id: id('Only this agent.').optional() }),
  output: z.object({
    chain_id: z.int().nullable(),
    chain_problem: z.string().nullable(),
    wallets: z.array(Wallet),
    open_purchases: z.array(
      z.object({
        payer: z.string(),
        nonce: z.string(),
        agent_id: z.string().nullable(),
        amount: z.string(),
        merchant_id: z.int(),
        product_id: z.string(),
        signed_at: z.string(),
        usable_until: z.string(),
      }),
    ),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async handle(context, { agent_id }) {
    const { keys, CHAIN_ID, SIGNER_STATE_DIR } = context.config
    const all: [string | null, AgentKey][] = keys.agents.map((agentId) => [agentId, keys.ofAgent(agentId)])
    if (keys.fallback) all.push([null, keys.fallback])
    const asked: typeof all = agent_id === undefined ? all : [[String(agent_id), keys.ofAgent(agent_id)]]
    const place = await placeOf(context).catch((error: unknown) => explain(error))
    return {
      chain_id: CHAIN_ID ?? null,
      chain_problem: typeof place === 'string' ? place : null,
      wallets: await Promise.all(asked.map(([agentId, key]) => look(agentId, key, place))),
      open_purchases: (await listAllOpen(SIGNER_STATE_DIR)).map((entry) => ({
        payer: entry.payer,
        nonce: entry.nonce,
        agent_id: entry.agentId,
        amount: entry.amount,
        merchant_id: entry.merchantId,
        product_id: entry.productId,
        signed_at: entry.signedAt,
        usable_until: time(entry.validBefore),
      })),
    }
  },
})

interface Place {
  chain: Chain
  market: Market
}

async function placeOf(context: Context): Promise<Place> {
  const chain = await connect(context)
  return { chain, market: await readMarket(chain, context) }
}

async function look(
  agentId: string | null,
  key: AgentKey,
  place: Place | string,
): Promise<z.input<typeof Wallet>> {
  const nothing = {
    agent_id: agentId,
    address: null,
    eth_wei: null,
    usdc: null,
    owns_agent: null,
    problem: null,
  }
  let account: PrivateKeyAccount
  try {
    account = key.account()
  } catch (error) {
    return { ...nothing, problem: explain(error) }
  }
  const { address } = account
  if (typeof place === 'string') return { ...nothing, address }
  try {
    return { ...nothing, address, ...(await read(agentId, account, place)) }
  } catch (error) {
    return { ...nothing, address, problem: explain(error) }
  }
}

async function read(
  agentId: string | null,
  { address }: PrivateKeyAccount,
  { chain: { client }, market }: Place,
) {
  const [eth, usdc, identities] = await Promise.all([
    client.getBalance({ address }),
    client.readContract({
      address: market.usdc,
      abi: sandboxUSDCAbi,
      functionName: 'balanceOf',
      args: [address],
    }),
    client.readContract({ address: market.escrow, abi: commissionEscrowAbi, functionName: 'IDENTITIES' }),
  ])
  const ownsAgent =
    agentId === null
      ? null
      : await client
          .readContract({
            address: identities,
            abi: identityRegistryAbi,
            functionName: 'ownerOf',
            args: [BigInt(agentId)],
          })
          .then(
            (owner) => isAddressEqual(owner, address),
            // An agent that does not exist has no owner; what cannot be read is null.
            (error: unknown) => (isRevert(error) ? false : null),
          )
  return { eth_wei: String(eth), usdc: String(usdc), owns_agent: ownsAgent }
}

const isRevert = (error: unknown): boolean =>
  error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError) !== null
