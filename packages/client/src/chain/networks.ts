import type { Address } from 'viem'

/**
 * A chain that a market can be on.
 *
 * @example
 * ```ts
 * import { NETWORKS, type Network } from '@referrer/client/chain'
 *
 * const network: Network = NETWORKS['base-sepolia']
 * network.chainId // → 84532
 * ```
 */
export interface Network {
  name: 'sandbox' | 'base-sepolia' | 'base'
  chainId: number
  rpcUrl: string
  /** Only the sandbox has a market whose place is known beforehand. */
  marketUrl?: string
  identityRegistry?: Address
  /** ERC-8004 feedback about the agents of that identity registry. */
  reputationRegistry?: Address
  usdc?: Address
  /** Where a transaction or an address can be looked at. */
  explorerUrl?: string
}

export const NETWORKS: Record<Network['name'], Network> = {
  sandbox: {
    name: 'sandbox',
    chainId: 31_337,
    rpcUrl: 'http://127.0.0.1:8545',
    marketUrl: 'http://127.0.0.1:8080',
  },
  'base-sepolia': {
    name: 'base-sepolia',
    chainId: 84_532,
    rpcUrl: 'https://sepolia.base.org',
    identityRegistry: '0x8004A818BFB912233c491871b3d84c89A494BD9e',
    reputationRegistry: '0x8004B663056A597Dffe9eCcC1965A193B7388713',
    usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    explorerUrl: 'https://sepolia.basescan.org',
  },
  base: {
    name: 'base',
    chainId: 8_453,
    rpcUrl: 'https://mainnet.base.org',
    identityRegistry: '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432',
    reputationRegistry: '0x8004BAa17C55a88189AE136b182e5fdA19dE9b63',
    usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    explorerUrl: 'https://basescan.org',
  },
}
