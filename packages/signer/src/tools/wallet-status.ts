import { commissionEscrowAbi, identityRegistryAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { isAddressEqual, type LocalAccount } from 'viem'
import { z } from 'zod'
import { type Chain, connect, type Market, readMarket } from '../chain/chain.ts'
import { isRevert } from '../chain/reverts.ts'
import type { Context } from '../context.ts'
import { id, time, USDC_UNITS } from '../fields.ts'
import { dayOf, listAllOpen } from '../purchase/journal.ts'
import { signedSince } from '../purchase/reserve.ts'
import { explain } from '../refused.ts'
import { tool } from '../tool.ts'

const Wallet = z.object({
  agent_id: z
    .string()
    .nullable()
    .describe('Null: the key for all other agents and for purchases without one.'),
  address: z.string(),
  eth_wei: z.string().nullable().describe('ETH for gas, in wei.'),
  usdc: z.string().nullable().describe(`In ${USDC_UNITS}.`),
  owns_agent: z.boolean().nullable().describe('Whether the address owns the agent on the chain.'),
  problem: z.string().nullable(),
})

export const walletStatus = tool({
  name: 'get_wallet_status',
  title: 'The wallets of this signer',
  description:
    'For which agents the signer has keys, their addresses and balances (USDC pays for products, ETH the gas of reviews), whether each owns its agent, how much may be paid (limits), and purchases without an outcome so far (open_purchases). Use it first, and when a payment failed unclearly.',
  details:
    'ETH pays for the gas of publish_escrow_review, bind_escrow and the like. With agent_id it tells of that agent only. What cannot be read is null, and problem says why.',
  input: z.strictObject({ agent_id: id('Only this agent.').optional() }),
  output: z.object({
    chain_id: z.int().nullable(),
    chain_problem: z.string().nullable(),
    wallets: z.array(Wallet),
    limits: z
      .object({
        max_per_purchase: z.string().nullable().describe(`For one purchase, in ${USDC_UNITS}.`),
        max_per_day: z
          .string()
          .nullable()
          .describe(`For all wallets together in a UTC day, in ${USDC_UNITS}.`),
        signed_today: z
          .string()
          .describe(`What was paid today or may still be, of all wallets together, in ${USDC_UNITS}.`),
      })
      .describe("The signer's own limits, beside the caps of the owner. Null: none."),
    open_purchases: z.array(
      z.object({
        payer: z.string(),
        nonce: z.string(),
        agent_id: z.string().nullable(),
        amount: z.string().describe(`In ${USDC_UNITS}.`),
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
    const all: [string | null, LocalAccount][] = keys.agents.map((agentId) => [
      agentId,
      keys.ofAgent(agentId),
    ])
    if (keys.fallback) all.push([null, keys.fallback])
    const asked: typeof all = agent_id === undefined ? all : [[String(agent_id), keys.ofAgent(agent_id)]]
    const place = await placeOf(context).catch((error: unknown) => explain(error))
    return {
      chain_id: typeof place === 'string' ? (CHAIN_ID ?? null) : place.chain.chainId,
      chain_problem: typeof place === 'string' ? place : null,
      wallets: await Promise.all(asked.map(([agentId, account]) => look(agentId, account, place))),
      limits: await limitsOf(context),
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

async function limitsOf(context: Context) {
  const { MAX_PER_PURCHASE, MAX_PER_DAY, SIGNER_STATE_DIR } = context.config
  const signed = await signedSince(SIGNER_STATE_DIR, dayOf(context.now()))
  return {
    max_per_purchase: MAX_PER_PURCHASE === undefined ? null : String(MAX_PER_PURCHASE),
    max_per_day: MAX_PER_DAY === undefined ? null : String(MAX_PER_DAY),
    signed_today: String(signed.reduce((sum, { amount }) => sum + BigInt(amount), 0n)),
  }
}

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
  account: LocalAccount,
  place: Place | string,
): Promise<z.input<typeof Wallet>> {
  const { address } = account
  const nothing = {
    agent_id: agentId,
    address,
    eth_wei: null,
    usdc: null,
    owns_agent: null,
    problem: null,
  }
  if (typeof place === 'string') return nothing
  try {
    return { ...nothing, ...(await read(agentId, account, place)) }
  } catch (error) {
    return { ...nothing, problem: explain(error) }
  }
}

async function read(agentId: string | null, { address }: LocalAccount, { chain: { client }, market }: Place) {
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
            // An agent that does not exist has no owner; a value that cannot be read is null.
            (error: unknown) => (isRevert(error) ? false : null),
          )
  return { eth_wei: String(eth), usdc: String(usdc), owns_agent: ownsAgent }
}
