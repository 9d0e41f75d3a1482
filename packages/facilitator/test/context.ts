// A context whose chain and marketplace are on paper, for what is decided without them.
import { RpcError, type RpcPool } from '@referrer/chain'
import { memoryLimits, NO_TRACING } from '@referrer/process'
import { AttestationKey, AttributionToken, Recovery } from '@referrer/protocol'
import { merchantRegistryAbi, settlementProbeAbi } from '@referrer/protocol/abi'
import { pino } from 'pino'
import { type Address, encodeFunctionResult, hexToBytes, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { readConfig } from '../src/config.ts'
import type { Chain, Context } from '../src/context.ts'
import { createRelayerPool } from '../src/relayer-pool.ts'
import type { Till } from './payloads.ts'

export interface PaperContext {
  context: Context
  chain: Chain
  till: Till
  /** Who has code. */
  contracts: Set<Address>
  /** What the node was asked. While `isDown` it does not answer. */
  node: { asked: string[]; isDown: boolean; isListed: boolean; productType: 0 | 1 }
  /** What the marketplace is asked, and what it answers. */
  market: { asked: Request[]; answer: (request: Request) => Promise<Response> }
  clock: { now: number }
  mint(change?: Partial<AttributionToken.Terms>, seed?: number): Promise<string>
}

export const SEED = 0xa1
export const NOW = 1_750_000_000
export const keyAt = (seed: number) => AttestationKey.signingKey(hexToBytes(numberToHex(seed, { size: 32 })))

const RELAYER_KEY = numberToHex(7, { size: 32 })
const CHAIN_ID = 84_532
const addresses = {
  AddressRegistry: '0x1000000000000000000000000000000000000001',
  IdentityRegistry: '0x1000000000000000000000000000000000000002',
  MerchantRegistry: '0x1000000000000000000000000000000000000003',
  ReviewRegistry: '0x1000000000000000000000000000000000000004',
  CommissionEscrow: '0x1000000000000000000000000000000000000005',
  SplitRouter: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
  USDC: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
} as const

export async function paperContext({
  marketUrl,
  keys = [SEED],
}: {
  marketUrl?: string
  /** Seeds of the keys that the configuration names; none: the first is the marketplace's word. */
  keys?: number[]
} = {}): Promise<PaperContext> {
  const terms: AttributionToken.Terms = {
    chainId: CHAIN_ID,
    splitRouter: addresses.SplitRouter,
    merchantEndpoint: 'https://shop.example/buy',
    merchantId: 3,
    productId: numberToHex(0xb0, { size: 32 }),
    reviewId: 11,
    reviewerAgentId: 5,
    cashbackOfCommissionBps: 2_500,
    commissionMultiplierBps: 7_000,
    issuedAt: NOW - 1_000,
  }
  const mint: PaperContext['mint'] = async (change, seed = SEED) =>
    AttributionToken.mint({ ...terms, ...change }, await keyAt(seed))
  const named = await Promise.all(keys.map(async (seed) => (await keyAt(seed)).attestationPubKey))

  const node: PaperContext['node'] = { asked: [], isDown: false, isListed: true, productType: 0 }
  const market: PaperContext['market'] = {
    asked: [],
    answer: async () => new Response('', { status: 404 }),
  }
  const clock = { now: NOW * 1_000 }
  const contracts = new Set<Address>()
  const rpc = { request: (method: string, params: unknown[]) => answerFor(method, params) }

  async function answerFor(method: string, [first, , overrides]: unknown[]): Promise<unknown> {
    node.asked.push(method)
    if (node.isDown) throw new RpcError('transport', 'the node is gone')
    if (method === 'eth_getCode') return contracts.has(first as Address) ? '0x60' : '0x'
    // Wallets on paper do not tell what they have signed.
    if (overrides)
      return encodeFunctionResult({
        abi: settlementProbeAbi,
        functionName: 'together',
        result: [BigInt(NOW), [], []],
      })
    const product = { commissionBps: 0, minPrice: 0n, listed: node.isListed, active: true }
    return encodeFunctionResult({
      abi: merchantRegistryAbi,
      functionName: 'getProduct',
      result: { ...product, productType: node.productType },
    })
  }

  const relayers = [privateKeyToAccount(RELAYER_KEY)] as const
  const chain: Chain = {
    chainId: CHAIN_ID,
    network: `eip155:${CHAIN_ID}`,
    rpc: rpc as unknown as RpcPool,
    contracts: addresses,
    token: { name: 'USDC', version: '2' },
    ring: await AttestationKey.keyRing(named[0] ?? (await keyAt(SEED)).attestationPubKey, named[1]),
    relayers,
    retiring: [],
    signerTrouble: async () => undefined,
    relayerPool: createRelayerPool({ rpc: rpc as unknown as RpcPool, contracts: addresses, relayers }),
    confirmations: 1,
    maxFeePerGas: 1n,
    checkNodes: async () => ({ wrong: [], notes: [] }),
    leastAmount: 10_000n,
    feeBps: 1_000,
  }
  const config = readConfig({
    RELAYER_PRIVATE_KEYS: RELAYER_KEY,
    ...(named.length > 0 && { ATTESTATION_PUBLIC_KEYS: JSON.stringify({ [CHAIN_ID]: named }) }),
    ...(marketUrl && { MARKET_URL: marketUrl }),
    CHAINS: JSON.stringify([
      { chainId: CHAIN_ID, rpcUrls: ['http://node.test'], contracts: addresses, startBlock: 0 },
    ]),
  })
  const context: Context = {
    config,
    chains: new Map([[CHAIN_ID, chain]]),
    clock: () => clock.now,
    log: pino({ level: 'silent' }),
    limits: memoryLimits(() => clock.now),
    tracing: NO_TRACING,
    fetch: async (input, init) => {
      const request = new Request(input, init)
      market.asked.push(request)
      return market.answer(request)
    },
    recovery: await Recovery.load(),
    get sql(): never {
      throw new Error('there is no database on paper')
    },
    get databaseUrl(): never {
      throw new Error('there is no database on paper')
    },
    get lookup(): never {
      throw new Error('there is no network on paper')
    },
  }
  const till: Till = {
    chainId: CHAIN_ID,
    usdc: addresses.USDC,
    router: addresses.SplitRouter,
    token: chain.token,
    terms,
    attributionToken: await mint(),
  }
  return { context, chain, till, contracts, node, market, clock, mint }
}
