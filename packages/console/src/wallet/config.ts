// Any wallet in the browser: found by EIP-6963, or as window.ethereum. Reads go through the wallet, so that no other server is called.
import {
  type Account,
  type Address,
  type Chain,
  createPublicClient,
  createWalletClient,
  custom,
  type EIP1193Provider,
  type PublicClient,
  type Transport,
  type WalletClient,
} from 'viem'
import { type Config, createConfig, createStorage, injected, unstable_connector } from 'wagmi'
import { base, baseSepolia, hardhat, localhost } from 'wagmi/chains'

const NAMED: readonly Chain[] = [base, baseSepolia, hardhat, localhost]

/** Any chain that a market is on; one that is not known by name has its number for a name, and the wallet has to know its node. */
export const chainOf = (chainId: number): Chain =>
  NAMED.find(({ id }) => id === chainId) ?? {
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  }

const readsThroughWallet = unstable_connector(injected)

/** For the chain of the market: pages ask for no other. */
export const configOf = (chainId: number): Config =>
  createConfig({
    chains: [chainOf(chainId)],
    connectors: [injected()],
    multiInjectedProviderDiscovery: true,
    storage: createStorage({ storage: globalThis.localStorage }),
    transports: { [chainId]: readsThroughWallet },
  })

/** A wallet that a person connected, on the chain that was asked for. */
export interface Connected {
  address: Address
  chainId: number
  /** Signs and sends. */
  wallet: WalletClient<Transport, Chain, Account>
  /** Reads, through the wallet's own node. */
  reads: PublicClient
  provider: EIP1193Provider
}

const POLLING_MS = 1_000

export function connectedOf(address: Address, chainId: number, provider: EIP1193Provider): Connected {
  const chain = chainOf(chainId)
  const transport = custom(provider)
  return {
    address,
    chainId,
    provider,
    wallet: createWalletClient({ account: address, chain, transport }),
    reads: createPublicClient({ chain, transport, pollingInterval: POLLING_MS }) as PublicClient,
  }
}
