// A market's URL and a node of its chain are all that a newcomer has: the rest is told by the manifest and checked on-chain.
import { addressRegistryAbi, reviewRegistryAbi } from '@referrer/protocol/abi'
import {
  type Address,
  BaseError,
  HttpRequestError,
  isAddress,
  isAddressEqual,
  keccak256,
  type PublicClient,
  stringToBytes,
  TimeoutError,
} from 'viem'
import { NETWORKS } from './networks.ts'

/**
 * A market on one chain, as its address registry names it.
 *
 * @example
 * ```ts
 * import { createReferrerClient, type Deployment } from '@referrer/client'
 *
 * export const clientOf = ({ marketUrl, chainId, contracts }: Deployment) =>
 *   createReferrerClient({ url: marketUrl, chainId, reviewRegistry: contracts.ReviewRegistry })
 * ```
 */
export interface Deployment {
  /** The market, without a slash at the end. */
  marketUrl: string
  /** How the market names itself to others; it may be reached by another name, too. */
  publicUrl: string
  mcpUrl: string
  /** The manifest. */
  setupUrl: string
  chainId: number
  contracts: {
    AddressRegistry: Address
    IdentityRegistry: Address
    MerchantRegistry: Address
    ReviewRegistry: Address
    CommissionEscrow: Address
    SplitRouter: Address
    USDC: Address
    /** ERC-8004 feedback: the network's own, or in a sandbox the one that the market names. No contract of the market rests on it. */
    ReputationRegistry?: Address
  }
  /** Those whose ref links count, the one that signs first. */
  attestationPubKeys: string[]
  /** Smallest payment that is settled, in USDC base units. */
  leastAmount: bigint
  /** Undefined when the market does not tell. */
  facilitatorUrl: string | undefined
  /** Gives gas and USDC for nothing; a sandbox has one. */
  faucetUrl: string | undefined
}

/**
 * @example
 * ```ts
 * import type { DeploymentOptions } from '@referrer/client/chain'
 *
 * export const options: DeploymentOptions = {
 *   marketUrl: 'https://market.test',
 *   addressRegistry: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
 * }
 * ```
 */
export interface DeploymentOptions {
  /** Where the market is; a path such as `/mcp` is left out. */
  marketUrl: string
  /** The registry that you already trust: any other one is refused. */
  addressRegistry?: Address | undefined
  fetch?: typeof fetch
}

/**
 * The market is not what it says, or does not answer; the message says what to do.
 *
 * @example
 * ```ts
 * import { DeploymentError, marketUrlOf } from '@referrer/client/chain'
 *
 * let thrown: unknown
 * try {
 *   marketUrlOf('market.test')
 * } catch (error) {
 *   thrown = error
 * }
 * thrown instanceof DeploymentError // → true
 * ```
 */
export class DeploymentError extends Error {
  override readonly name = 'DeploymentError'
}

const SETUP_PATH = '/.well-known/referrer-agent'

const NAMES = {
  IdentityRegistry: 'IDENTITY_REGISTRY',
  MerchantRegistry: 'MERCHANT_REGISTRY',
  ReviewRegistry: 'REVIEW_REGISTRY',
  CommissionEscrow: 'COMMISSION_ESCROW',
  SplitRouter: 'SPLIT_ROUTER',
  USDC: 'USDC',
} as const

/**
 * Reads the manifest, and believes its addresses only where the address registry on the chain names the same. The registry
 * itself is the one that the review registry was deployed with; whoever knows it beforehand passes it and need not believe the market.
 *
 * @example
 * ```ts
 * import { readDeployment } from '@referrer/client/chain'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * declare const marketUrl: string
 * const client = createPublicClient({ chain: base, transport: http() })
 * const { chainId, contracts } = await readDeployment(client, { marketUrl })
 * export const payTo = `eip155:${chainId}:${contracts.SplitRouter}`
 * ```
 */
export async function readDeployment(
  client: Pick<PublicClient, 'getChainId' | 'readContract'>,
  options: DeploymentOptions,
): Promise<Deployment> {
  const marketUrl = marketUrlOf(options.marketUrl)
  const setupUrl = `${marketUrl}${SETUP_PATH}`
  const manifest = await readManifest(setupUrl, options.fetch ?? fetch)
  const chainId = await client.getChainId()
  const told = manifest.chains.find((chain) => chain.chainId === chainId)
  if (!told) {
    const ids = manifest.chains.map((chain) => chain.chainId).join(', ')
    throw new DeploymentError(
      `the node serves chain ${chainId}, and the market at ${marketUrl} works on ${ids || 'none'}: name a node of that chain`,
    )
  }
  const refuse = (why: string) => (error: unknown) => {
    if (isUnanswered(error)) throw error
    throw new DeploymentError(`${why}: do not use this market`, { cause: error })
  }
  const AddressRegistry = await client
    .readContract({ address: told.reviewRegistry, abi: reviewRegistryAbi, functionName: 'ADDRESSES' })
    .catch(
      refuse(`the review registry ${told.reviewRegistry} that ${marketUrl} names is not on chain ${chainId}`),
    )
  const wanted = options.addressRegistry
  if (wanted && !isAddressEqual(wanted, AddressRegistry)) {
    throw new DeploymentError(
      `the market at ${marketUrl} uses the address registry ${AddressRegistry}, and you trust ${wanted}: do not use it before you know why`,
    )
  }
  const entries = await Promise.all(
    Object.entries(NAMES).map(async ([contract, name]) => [
      contract,
      await client
        .readContract({
          address: AddressRegistry,
          abi: addressRegistryAbi,
          functionName: 'getAddress',
          args: [keccak256(stringToBytes(name))],
        })
        .catch(refuse(`the address registry ${AddressRegistry} of ${marketUrl} does not name ${contract}`)),
    ]),
  )
  const reputation =
    Object.values(NETWORKS).find((one) => one.chainId === chainId)?.reputationRegistry ??
    told.reputationRegistry
  const contracts = {
    AddressRegistry,
    ...Object.fromEntries(entries),
    ...(reputation && { ReputationRegistry: reputation }),
  } as Deployment['contracts']
  for (const [contract, address] of [
    ['SplitRouter', told.splitRouter],
    ['ReviewRegistry', told.reviewRegistry],
    ['IdentityRegistry', told.identityRegistry],
  ] as const) {
    if (address && !isAddressEqual(address, contracts[contract])) {
      throw new DeploymentError(
        `the market at ${marketUrl} names ${contract} ${address}, and the address registry ${contracts[contract]}: do not use this market`,
      )
    }
  }
  requireKnown(marketUrl, chainId, contracts)
  return {
    marketUrl,
    publicUrl: manifest.setupUrl?.endsWith(SETUP_PATH)
      ? manifest.setupUrl.slice(0, -SETUP_PATH.length)
      : marketUrl,
    mcpUrl: `${marketUrl}/mcp`,
    setupUrl,
    chainId,
    contracts,
    attestationPubKeys: told.attestationPubKeys ?? [],
    leastAmount: BigInt(told.leastAmount),
    facilitatorUrl: manifest.facilitatorUrl,
    faucetUrl: manifest.faucetUrl,
  }
}

/** A market on a public chain that uses other identities or another token is not what its owner says: nobody should buy that token. */
function requireKnown(marketUrl: string, chainId: number, contracts: Deployment['contracts']): void {
  const network = Object.values(NETWORKS).find((one) => one.chainId === chainId)
  for (const [what, known, named] of [
    ['identity registry', network?.identityRegistry, contracts.IdentityRegistry],
    ['USDC', network?.usdc, contracts.USDC],
  ] as const) {
    if (known && !isAddressEqual(known, named)) {
      throw new DeploymentError(
        `the market at ${marketUrl} uses the ${what} ${named}, and that of chain ${chainId} is ${known}: do not use this market`,
      )
    }
  }
}

/** The node did not answer, so nothing is known about the market. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null

/**
 * The market's own URL, from it or from that of its tools.
 *
 * @example
 * ```ts
 * import { marketUrlOf } from '@referrer/client/chain'
 *
 * marketUrlOf('https://market.test/mcp') // → 'https://market.test'
 * ```
 */
export function marketUrlOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new DeploymentError(`the market must be an http or https URL, not "${url}"`)
  }
  // One market has one spelling: what is trusted of it is remembered by its URL.
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname
    .replace(/\/+$/, '')
    .replace(/\/mcp$/, '')
    .replace(/\/+$/, '')}`
}

interface ToldChain {
  chainId: number
  splitRouter: Address
  reviewRegistry: Address
  identityRegistry?: Address
  reputationRegistry?: Address
  attestationPubKeys?: string[]
  leastAmount: string
}

interface Told {
  chains: ToldChain[]
  setupUrl?: string
  facilitatorUrl?: string
  faucetUrl?: string
}

const LONGEST_MS = 10_000

async function readManifest(url: string, fetchFn: typeof fetch): Promise<Told> {
  const response = await fetchFn(url, { signal: AbortSignal.timeout(LONGEST_MS), redirect: 'error' }).catch(
    (error: unknown) => {
      throw new DeploymentError(`no market answers at ${url}: is the URL right, and is it running?`, {
        cause: error,
      })
    },
  )
  const told: unknown = response.ok ? await response.json().catch(() => undefined) : undefined
  if (!isManifest(told)) {
    throw new DeploymentError(
      `what answers at ${url} is no market (status ${response.status}): is the URL right?`,
    )
  }
  return told
}

const isUrl = (value: unknown) =>
  value === undefined ||
  (typeof value === 'string' && /^https?:\/\/\S{1,2000}$/.test(value) && URL.canParse(value))

function isManifest(value: unknown): value is Told {
  const { chains, ...urls } = (value ?? {}) as Partial<Told>
  const { setupUrl, facilitatorUrl, faucetUrl } = urls
  return Array.isArray(chains) && chains.every(isChain) && [setupUrl, facilitatorUrl, faucetUrl].every(isUrl)
}

function isChain(value: unknown): value is ToldChain {
  const { chainId, splitRouter, reviewRegistry, leastAmount, attestationPubKeys, ...more } = (value ??
    {}) as Partial<ToldChain>
  const isContract = (address: unknown) =>
    typeof address === 'string' && isAddress(address, { strict: false })
  return (
    Number.isSafeInteger(chainId) &&
    isContract(splitRouter) &&
    isContract(reviewRegistry) &&
    [more.identityRegistry, more.reputationRegistry].every((one) => one === undefined || isContract(one)) &&
    /^\d{1,30}$/.test(leastAmount ?? '') &&
    (attestationPubKeys === undefined ||
      (Array.isArray(attestationPubKeys) && attestationPubKeys.every((key) => /^[0-9a-f]{64}$/.test(key))))
  )
}
