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
import { createConfig, createStorage, injected, unstable_connector } from 'wagmi'
import { base, baseSepolia, hardhat, localhost } from 'wagmi/chains'

export const CHAINS = [base, baseSepolia, hardhat, localhost] as const

const readsThroughWallet = unstable_connector(injected)

export const config = createConfig({
  chains: CHAINS,
  connectors: [injected()],
  multiInjectedProviderDiscovery: true,
  storage: createStorage({ storage: globalThis.localStorage }),
  transports: {
    [base.id]: readsThroughWallet,
    [baseSepolia.id]: readsThroughWallet,
    [hardhat.id]: readsThroughWallet,
    [localhost.id]: readsThroughWallet,
  },
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

export const chainOf = (chainId: number) => CHAINS.find(({ id }) => id === chainId)

const POLLING_MS = 1_000

export function connectedOf(address: Address, chainId: number, provider: EIP1193Provider): Connected {
  const chain = chainOf(chainId)
  if (!chain) throw new Error(`this console knows no chain ${chainId}`)
  const transport = custom(provider)
  return {
    address,
    chainId,
    provider,
    wallet: createWalletClient({ account: address, chain, transport }),
    reads: createPublicClient({ chain, transport, pollingInterval: POLLING_MS }) as PublicClient,
  }
}
