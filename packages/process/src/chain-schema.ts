import { type Address, getAddress, isAddress, isAddressEqual } from 'viem'
import { z } from 'zod'
import { Secret } from './secret.ts'

const address = z
  .custom<string>(
    (text) => typeof text === 'string' && isAddress(text),
    'expected an address: 0x and 40 hex digits, all lower case or with the right checksum',
  )
  .transform((text): Address => getAddress(text))

/** All deployments of a contract that can be replaced: older ones still hold money, so their events are indexed too. */
const generations = z
  .union([address.transform((only) => [only]), z.array(address).min(1)], {
    error: 'expected an address, or an array of addresses with the newest last',
  })
  .transform((addresses): readonly Address[] => addresses)

const count = (min: number) =>
  z.int(`expected a whole number from ${min} up`).min(min, `expected ${min} or more`)

const rpcUrl = z
  .custom<string>(
    (text) => typeof text === 'string' && isHttpUrl(text),
    'expected an http or https URL, special characters of a password percent-encoded',
  )
  // RPC providers put the API key into the URL.
  .transform((text) => new Secret(text))

/** The ERC-8004 registries of public networks: feedback is about identities, so the two belong together. */
const KNOWN_REGISTRIES: Record<number, { identities: Address; reputation: Address }> = {
  8453: {
    identities: '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432',
    reputation: '0x8004BAa17C55a88189AE136b182e5fdA19dE9b63',
  },
  84532: {
    identities: '0x8004A818BFB912233c491871b3d84c89A494BD9e',
    reputation: '0x8004B663056A597Dffe9eCcC1965A193B7388713',
  },
}

const Fields = z.strictObject(
  {
    chainId: count(1),
    rpcUrls: z.array(rpcUrl, 'expected an array of URLs').min(1, 'expected at least one URL'),
    contracts: z.strictObject(
      {
        AddressRegistry: address,
        IdentityRegistry: address,
        MerchantRegistry: address,
        ReviewRegistry: address,
        CommissionEscrow: generations,
        SplitRouter: generations,
        USDC: address,
        /** ERC-8004 feedback, which is shown and never counted. Null: none, also where the network has one. */
        ReputationRegistry: address.nullish(),
      },
      { error: unknownOr('expected an object of contract addresses') },
    ),
    /** The first block that can hold an event of the contracts. */
    startBlock: count(0).transform(BigInt),
    /** Number of blocks after which a block counts as final, safe from reorganisations. */
    finalityDepth: count(1).default(64),
    /** Number of blocks after which a program acts on an event. */
    confirmations: count(1).default(5),
    /** Highest gas price that a program pays for its own transactions. */
    maxFeePerGasGwei: count(1).default(100),
    /**
     * Smallest payment that is settled, in USDC base units. The default covers the gas of one purchase from settlement to escrow release
     * without batching (291,000 gas), at 0.01 gwei and 3,000 USD for one ether.
     */
    leastAmount: count(0).default(10_000).transform(BigInt),
    /** Age of the newest block from which on the nodes count as stalled; undefined disables the check. */
    maxHeadAgeSeconds: count(1).optional(),
    pollIntervalMs: count(10).max(3_600_000, 'expected 3600000 or less').default(500),
  },
  { error: unknownOr('expected an object that describes a chain') },
)

export const CONTRACT_NAMES = Object.keys(Fields.shape.contracts.shape)

export const Chain = Fields.transform(
  ({ contracts: { ReputationRegistry: given, ...contracts }, ...chain }) => {
    const known = KNOWN_REGISTRIES[chain.chainId]
    const isKnown = known && isAddressEqual(known.identities, contracts.IdentityRegistry)
    const registry = given === undefined && isKnown ? known.reputation : given
    return { ...chain, contracts: { ...contracts, ...(registry && { ReputationRegistry: registry }) } }
  },
)

export type ChainConfig = z.output<typeof Chain>

/** Formats a path like `[0].contracts.USDC`. */
export function at(path: readonly PropertyKey[]): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
}

function isHttpUrl(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text)
    decodeURIComponent(username + password)
    return /^https?:$/.test(protocol)
  } catch {
    return false
  }
}

function unknownOr(message: string) {
  return (issue: { code: string; keys?: string[] }) =>
    issue.code === 'unrecognized_keys' ? `unknown field ${issue.keys?.join(', ')}` : message
}
