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
  /** That of a chain which is not known by name is its id. */
  name: 'sandbox' | 'sandbox-2' | 'base-sepolia' | 'base' | `${number}`
  chainId: number
  /** On this machine, with money that is worth nothing. */
  isSandbox?: true
  /** A node that everybody may ask. */
  rpcUrl?: string
  /** Only the sandbox has a market whose place is known beforehand. */
  marketUrl?: string
  identityRegistry?: Address
  /** ERC-8004 feedback about the agents of that identity registry. */
  reputationRegistry?: Address
  usdc?: Address
  /** Where a transaction or an address can be looked at. */
  explorerUrl?: string
}

export const NETWORKS: Record<Exclude<Network['name'], `${number}`>, Network & { rpcUrl: string }> = {
  sandbox: {
    name: 'sandbox',
    chainId: 31_337,
    isSandbox: true,
    rpcUrl: 'http://127.0.0.1:8545',
    marketUrl: 'http://127.0.0.1:8080',
  },
  /** The second chain of `npm start -- --chains 2`. */
  'sandbox-2': {
    name: 'sandbox-2',
    chainId: 1_337,
    isSandbox: true,
    rpcUrl: 'http://127.0.0.1:8546',
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

const CHAIN_ID = /^[1-9]\d{0,14}$/

/**
 * The network of a name, or of the id of any other chain: a market can be on every chain that has USDC.
 *
 * @example
 * ```ts
 * import { networkNamed } from '@referrer/client/chain'
 *
 * networkNamed('base')?.chainId // → 8453
 * networkNamed('42161') // → { name: '42161', chainId: 42161 }
 * networkNamed('mars') // → undefined
 * ```
 */
export function networkNamed(name: string): Network | undefined {
  if (Object.hasOwn(NETWORKS, name)) return NETWORKS[name as keyof typeof NETWORKS]
  const known = Object.values(NETWORKS).find(({ chainId }) => String(chainId) === name)
  if (known) return known
  return CHAIN_ID.test(name) ? { name: name as `${number}`, chainId: Number(name) } : undefined
}
