// What the chain says about the market: whom to pay, and in which token.
import { addressRegistryAbi, splitRouterAbi } from '@referrer/protocol/abi'
import {
  type Address,
  createPublicClient,
  fallback,
  http,
  keccak256,
  type PublicClient,
  parseAbi,
  stringToBytes,
} from 'viem'
import type { MarketSettings } from './config.ts'

export interface Market {
  splitRouter: Address
  /** Where the router records every purchase. */
  escrow: Address
  usdc: Address
  /** The token's EIP-712 domain. */
  token: { name: string; version: string }
}

const NODE_TIMEOUT_MS = 5_000
const TOKEN_DOMAIN = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
])

type Nodes = Pick<MarketSettings, 'chainId' | 'rpcUrls' | 'addressRegistry' | 'fetch'>

export function connectTo({ rpcUrls, fetch }: Pick<Nodes, 'rpcUrls' | 'fetch'>): PublicClient {
  const options = { fetchFn: fetch, timeout: NODE_TIMEOUT_MS, retryCount: 1 }
  const nodes = rpcUrls.map((url) => http(url, options))
  return createPublicClient({ transport: fallback(nodes, { retryCount: 0 }) })
}

export async function readMarket(
  client: PublicClient,
  { chainId, addressRegistry }: Pick<Nodes, 'chainId' | 'addressRegistry'>,
): Promise<Market> {
  const [servedId, splitRouter, usdc] = await Promise.all([
    client.getChainId(),
    addressOf(client, addressRegistry, 'SPLIT_ROUTER'),
    addressOf(client, addressRegistry, 'USDC'),
  ])
  if (servedId !== chainId)
    throw new Error(`rpcUrl serves chain ${servedId}, not ${chainId}: name a node of it`)
  const token = { address: usdc, abi: TOKEN_DOMAIN } as const
  const [escrow, name, version] = await Promise.all([
    client.readContract({ address: splitRouter, abi: splitRouterAbi, functionName: 'ESCROW' }),
    client.readContract({ ...token, functionName: 'name' }),
    client.readContract({ ...token, functionName: 'version' }),
  ])
  return { splitRouter, escrow, usdc, token: { name, version } }
}

export function addressOf(client: PublicClient, addressRegistry: Address, key: string): Promise<Address> {
  return client.readContract({
    address: addressRegistry,
    abi: addressRegistryAbi,
    functionName: 'getAddress',
    args: [keccak256(stringToBytes(key))],
  })
}

/** Caches the market: it is read at the first use and again after `refreshMs`. Failures are not cached, and concurrent callers share one read. */
export function watchMarket(client: PublicClient, settings: MarketSettings): () => Promise<Market> {
  let known: { market: Market; readAt: number } | undefined
  let reading: Promise<Market> | undefined

  function read(): Promise<Market> {
    reading ??= readMarket(client, settings)
      .then((market) => {
        known = { market, readAt: settings.now() }
        return market
      })
      .catch((error: unknown) => {
        settings.tell({ type: 'market_unavailable', error })
        throw error
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  return async () => {
    if (!known) return read()
    // The refresh runs in the background: until it succeeds, callers get the cached market.
    if (settings.now() - known.readAt >= settings.refreshMs) read().catch(() => {})
    return known.market
  }
}
