import { readFileSync } from 'node:fs'
import { type Address, getAddress, isAddress } from 'viem'
import { z } from 'zod'
import { type Env, textOf } from './environment.ts'
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
    /** Depth at which a program acts on what it saw. */
    confirmations: count(1).default(5),
    /** The most that a program pays for its own transactions. */
    maxFeePerGasGwei: count(1).default(100),
    /**
     * The least that is settled, in base units of USDC. The default pays for the gas of one purchase from its settlement to the release
     * of its escrow, each step alone (291,000), at 0.01 gwei and 3,000 USD for an ether.
     */
    leastAmount: count(0).default(10_000).transform(BigInt),
    /** A newest block older than this means that the nodes stand still; left out: not looked at. */
    maxHeadAgeSeconds: count(1).optional(),
    pollIntervalMs: count(10).max(3_600_000, 'expected 3600000 or less').default(500),
  },
  { error: unknownOr('expected an object that describes a chain') },
)

export type ChainConfig = z.output<typeof Chain>

const Chains = z
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

/** The chains of CHAINS or CHAINS_FILE, at least one. When they cannot be used, it is undefined and the problems say why. */
export function readChains(env: Env, problems: string[]): [ChainConfig, ...ChainConfig[]] | undefined {
  const inline = textOf(env, 'CHAINS')
  const file = textOf(env, 'CHAINS_FILE')
  const fail = (problem: string) => {
    problems.push(problem)
    return undefined
  }
  if (inline !== undefined && file !== undefined)
    return fail('CHAINS_FILE: set either this or CHAINS, not both')
  if (inline !== undefined) return parseChains('CHAINS', inline, problems)
  if (file === undefined) {
    return fail(
      'CHAINS: no chain is configured; set CHAINS to a JSON array of chains, or CHAINS_FILE to a file with one',
    )
  }
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return fail(`CHAINS_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  return parseChains('CHAINS_FILE', text, problems)
}

function parseChains(source: string, text: string, problems: string[]) {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // The parser's own message would quote the text, keys in RPC URLs included.
    problems.push(`${source}: not valid JSON`)
    return undefined
  }
  const { data, error } = Chains.safeParse(json)
  for (const { path, message } of error?.issues ?? []) problems.push(`${source}${at(path)}: ${message}`)
  const [first, ...others] = data ?? []
  return first && ([first, ...others] satisfies [ChainConfig, ...ChainConfig[]])
}

/** `[0].contracts.USDC` */
function at(path: readonly PropertyKey[]): string {
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
