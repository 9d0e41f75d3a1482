// Opens the chains of the configuration, and reads what payments on them need.
import { createNodeCheck, createRpcPool, RpcError, type RpcPool, readContract } from '@referrer/chain'
import { type ChainConfig, ConfigError, openSigners } from '@referrer/process'
import { AttestationKey, X402 } from '@referrer/protocol'
import { sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { type Address, isAddressEqual, type LocalAccount } from 'viem'
import type { Config } from './config.ts'
import type { Chain } from './context.ts'
import { readManifestKeys } from './market/keys.ts'
import { takesStateOverrides } from './onchain/probe.ts'
import { findMiswiring, newestOf } from './onchain/wiring.ts'
import { createRelayerPool } from './relayer-pool.ts'

const GWEI = 1_000_000_000n

/** Throws a `ConfigError` that names every chain that cannot be used, and why. */
export async function openChains(
  config: Config,
  fetch: typeof globalThis.fetch,
): Promise<Map<number, Chain>> {
  const senders = await openSenders(config)
  const keys = await knownKeys(config, fetch)
  const opened = await Promise.allSettled(
    config.chains.map((chain) => openChain(chain, fetch, senders, keys.get(chain.chainId))),
  )
  const problems = opened.flatMap((result, at) =>
    result.status === 'rejected' ? [explain(config.chains[at]?.chainId, result.reason)] : [],
  )
  if (problems.length > 0) throw new ConfigError(problems)
  return new Map(
    opened.flatMap((result) =>
      result.status === 'fulfilled' ? [[result.value.chainId, result.value] as const] : [],
    ),
  )
}

/** By chain, the newest first. Chains without keys in the configuration have those of the marketplace. */
async function knownKeys(
  { chains, attestationPublicKeys, marketUrl }: Config,
  fetch: typeof globalThis.fetch,
): Promise<Map<number, readonly string[]>> {
  const keys = new Map(attestationPublicKeys)
  if (marketUrl === undefined || chains.every(({ chainId }) => keys.has(chainId))) return keys
  try {
    for (const [chainId, told] of await readManifestKeys(fetch, marketUrl)) {
      if (!keys.has(chainId)) keys.set(chainId, told)
    }
    return keys
  } catch (error) {
    throw new ConfigError([
      `MARKET_URL: the manifest there does not tell whose ref links count (${(error as Error).message}); start the marketplace first, or set ATTESTATION_PUBLIC_KEYS`,
    ])
  }
}

type Senders = Pick<Chain, 'relayers' | 'retiring' | 'signerTrouble'>

async function openSenders(config: Config): Promise<Senders> {
  const { accounts, trouble } = await openSigners(config.keys, [...config.relayers, ...config.keys.retiring])
  const isRelayer = (account: LocalAccount) =>
    config.relayers.some(({ address }) => isAddressEqual(address, account.address))
  const [first, ...others] = accounts.filter(isRelayer)
  if (!first) throw new Error('a facilitator needs a relayer')
  return {
    relayers: [first, ...others],
    retiring: accounts.filter((account) => !isRelayer(account)),
    signerTrouble: trouble,
  }
}

async function openChain(
  config: ChainConfig,
  fetch: typeof globalThis.fetch,
  senders: Senders,
  [current, previous]: readonly string[] = [],
): Promise<Chain> {
  const { chainId } = config
  if (current === undefined) {
    throw new ConfigError([
      `ATTESTATION_PUBLIC_KEYS: the marketplace signs no ref links on chain ${chainId}; name the keys that count`,
    ])
  }
  const rpc = createRpcPool({ chainId, urls: config.rpcUrls.map((url) => url.reveal()), fetch })
  const contracts = newest(config)
  await requireWiring(rpc, config)
  await requireTrials(rpc, senders.relayers[0].address)
  const usdc = { address: contracts.USDC, abi: sandboxUSDCAbi, args: [] } as const
  const router = { address: contracts.SplitRouter, abi: splitRouterAbi, args: [] } as const
  const [name, version, feeBps] = await Promise.all([
    readContract({ rpc }, { ...usdc, functionName: 'name' }),
    readContract({ rpc }, { ...usdc, functionName: 'version' }),
    readContract({ rpc }, { ...router, functionName: 'FEE_BPS' }),
  ])
  return {
    chainId,
    network: X402.Network.from(chainId),
    rpc,
    contracts,
    token: { name, version },
    ring: await AttestationKey.keyRing(current, previous),
    ...senders,
    relayerPool: createRelayerPool({ rpc, contracts, relayers: senders.relayers }),
    confirmations: config.confirmations,
    maxFeePerGas: BigInt(config.maxFeePerGasGwei) * GWEI,
    checkNodes: createNodeCheck({ rpc, contracts, maxHeadAgeSeconds: config.maxHeadAgeSeconds }),
    leastAmount: config.leastAmount,
    feeBps: Number(feeBps),
  }
}

/** Older routers and escrows hold money, but nothing is sold through them any more. */
function newest({ contracts }: ChainConfig): Chain['contracts'] {
  const { MerchantRegistry, IdentityRegistry, USDC } = contracts
  return {
    SplitRouter: newestOf(contracts, 'SplitRouter'),
    CommissionEscrow: newestOf(contracts, 'CommissionEscrow'),
    MerchantRegistry,
    IdentityRegistry,
    USDC,
  }
}

/** Compares the configuration with the contracts that the router works with, so that a mistake shows at the start. */
async function requireWiring(rpc: RpcPool, { chainId, contracts }: ChainConfig): Promise<void> {
  const problems = (await findMiswiring(rpc, contracts, ['SplitRouter'])).map(
    ({ name, actual, configured }) =>
      `CHAINS: the split router of chain ${chainId} works with ${name} ${actual}, not with ${configured}`,
  )
  if (problems.length > 0) throw new ConfigError(problems)
}

/** Every payment is simulated with a state override in `eth_call`, which not every node supports. */
async function requireTrials({ chainId, endpoints }: RpcPool, relayer: Address): Promise<void> {
  const problems = endpoints.map(
    async (endpoint): Promise<string[]> =>
      (await takesStateOverrides(endpoint, relayer))
        ? []
        : [
            `CHAINS: ${endpoint.name} does not take state overrides in eth_call on chain ${chainId}, so no payment can be tried out there; name another node in its rpcUrls`,
          ],
  )
  const found = (await Promise.all(problems)).flat()
  if (found.length > 0) throw new ConfigError(found)
}

function explain(chainId: number | undefined, reason: unknown): string {
  if (reason instanceof ConfigError) return reason.problems.join('\n  ')
  const why = reason instanceof Error ? reason.message : String(reason)
  return reason instanceof RpcError && reason.kind !== 'reverted'
    ? `CHAINS: the nodes of chain ${chainId} do not answer (${why}); check its rpcUrls`
    : `CHAINS: chain ${chainId} has no split router or no USDC where the configuration says (${why}); check its contracts`
}
