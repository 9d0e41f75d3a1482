import { type Address, getAddress, isAddress } from 'viem'
import { z } from 'zod'
import { Secret } from './secret.ts'

const address = z
  .custom<string>(
    (text) => typeof text === 'string' && isAddress(text),
    'expected an address: 0x and 40 hex digits, all lower case or with the right checksum',
  )
  .transform((text): Address => getAddress(text))

/** Contracts that may be replaced: the older ones still hold money, so their events count too. */
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
  // Providers put the key into the URL.
  .transform((text) => new Secret(text))

const Chain = z.strictObject(
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
      },
      { error: unknownOr('expected an object of contract addresses') },
    ),
    /** No event of the market is older. */
    startBlock: count(0).transform(BigInt),
    /** Blocks this deep are never reorganised. */
    finalityDepth: count(1).default(64),
    /** Depth at which the service acts on what it saw. */
    confirmations: count(1).default(5),
    /** The most that the service pays for its own transactions. */
    maxFeePerGasGwei: count(1).default(100),
    /** A newest block older than this means that the nodes stand still; left out: not looked at. */
    maxHeadAgeSeconds: count(1).optional(),
    pollIntervalMs: count(10).max(3_600_000, 'expected 3600000 or less').default(500),
  },
  { error: unknownOr('expected an object that describes a chain') },
)

export type ChainConfig = z.output<typeof Chain>

export const Chains = z
  .array(Chain, 'expected an array of chains')
  .min(1, 'expected at least one chain')
  .superRefine((chains, context) => {
    for (const [index, { chainId }] of chains.entries()) {
      if (chains.findIndex((other) => other.chainId === chainId) < index) {
        context.addIssue({
          code: 'custom',
          path: [index, 'chainId'],
          message: `chain ${chainId} is listed twice`,
        })
      }
    }
  })

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
