import { addressRegistryAbi, commissionEscrowAbi } from '@referrer/protocol/abi'
import {
  type Address,
  type Chain as ChainInfo,
  createPublicClient,
  defineChain,
  type HttpTransport,
  http,
  isAddressEqual,
  keccak256,
  type PublicClient,
  stringToBytes,
} from 'viem'
import { need } from '../config.ts'
import type { Context } from '../context.ts'
import { within } from '../fetch-within.ts'
import { Refused } from '../refused.ts'
import { forgetDeployment, settingsOf } from './deployment.ts'

const POLLING_MS = 250
const DEPOSITOR_ROLE = keccak256(stringToBytes('DEPOSITOR_ROLE'))

export interface Chain {
  client: PublicClient<HttpTransport, ChainInfo>
  chainId: number
}

/** The contracts of the marketplace, as its address registry names them. */
export interface Market {
  escrow: Address
  router: Address
  usdc: Address
}

/** The configured chain, after a check that its node serves it. */
export async function connect(context: Context, wanted?: number): Promise<Chain> {
  const { BASE_RPC_URL: url } = need(context.config, 'BASE_RPC_URL')
  const { CHAIN_ID: chainId } = await settingsOf(context, 'CHAIN_ID')
  if (wanted !== undefined && wanted !== chainId) {
    throw new Refused(
      `wrong chain: asked for chain ${wanted}, and the signer is set to ${chainId} (CHAIN_ID)`,
    )
  }
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const { timeouts } = context
  const fetchFn = within(timeouts.answer)
  const transport = http(url, { timeout: timeouts.answer, retryCount: 1, fetchFn })
  const client = createPublicClient({ chain, transport, pollingInterval: POLLING_MS, cacheTime: 0 })
  const served = await client.getChainId()
  if (served !== chainId) {
    throw new Refused(`wrong chain: BASE_RPC_URL serves chain ${served}, and CHAIN_ID is ${chainId}`)
  }
  return { client, chainId }
}

/** Finds all contracts through the escrow contract. */
export async function readMarket(chain: Chain, context: Context): Promise<Market> {
  const { COMMISSION_ESCROW_ADDRESS: escrow } = await settingsOf(context, 'COMMISSION_ESCROW_ADDRESS')
  const named = await registryOf(chain, escrow)
  const [router, usdc, current] = await Promise.all([
    named('SPLIT_ROUTER'),
    named('USDC'),
    named('COMMISSION_ESCROW'),
  ])
  if (!isAddressEqual(current, escrow)) {
    forgetDeployment(context)
    throw new Refused(
      `COMMISSION_ESCROW_ADDRESS is ${escrow}, and the address registry names ${current}: check which one the marketplace uses`,
    )
  }
  return { escrow, router, usdc }
}

const depositors = new WeakMap<Context, Set<string>>()

/** A router that the escrow takes no deposits of is not the marketplace's, whatever the address registry says. Asked once for each pair. */
export async function requireDepositor(
  { client }: Chain,
  context: Context,
  { escrow, router }: Market,
): Promise<void> {
  const known = depositors.get(context) ?? new Set()
  depositors.set(context, known)
  const pair = `${escrow} ${router}`
  if (known.has(pair)) return
  const isDepositor = await client.readContract({
    address: escrow,
    abi: commissionEscrowAbi,
    functionName: 'hasRole',
    args: [DEPOSITOR_ROLE, router],
  })
  if (!isDepositor) {
    throw new Refused(
      `the address registry names the split router ${router}, and the escrow ${escrow} takes no deposits of it: tell the marketplace; nothing was paid`,
    )
  }
  known.add(pair)
}

export const readMerchantRegistry = async (chain: Chain, escrow: Address): Promise<Address> =>
  (await registryOf(chain, escrow))('MERCHANT_REGISTRY')

/** Looks names up in the address registry of an escrow. */
async function registryOf({ client }: Chain, escrow: Address): Promise<(name: string) => Promise<Address>> {
  const address = await client.readContract({
    address: escrow,
    abi: commissionEscrowAbi,
    functionName: 'ADDRESSES',
  })
  return (name) =>
    client.readContract({
      address,
      abi: addressRegistryAbi,
      functionName: 'getAddress',
      args: [keccak256(stringToBytes(name))],
    })
}
