import {
  confirmed,
  deployMarket,
  developmentAccount,
  type LocalClient,
  listProduct,
  type Market,
  mintUsdc,
  openMerchant,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import { AttestationKey, AttributionToken } from '@referrer/protocol'
import { sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { type Address, createTestClient, http, keccak256, publicActions, toBytes, walletActions } from 'viem'
import type { HDAccount } from 'viem/accounts'
import { hardhat } from 'viem/chains'

/** A market where one product can be bought through one review. */
export type Shop = {
  market: Market
  /** Accounts that may settle and have gas. */
  relayers: HDAccount[]
  /** Accounts with USDC. */
  buyers: HDAccount[]
  /** The account that bare transfers pay. */
  wallet: Address
  attributionToken: string
  attestationPubKey: string
}

const MONEY = 1_000_000_000n
const BUYERS_FROM = 300
/** The first development account that has no role in the market; the chain gives such accounts gas. */
const RELAYERS_FROM = 12

export function connectTo(url: string): LocalClient {
  return createTestClient({
    mode: 'hardhat',
    chain: hardhat,
    transport: http(url),
    pollingInterval: 20,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions)
}

export async function openShop(
  client: LocalClient,
  {
    buyers: buyerCount,
    relayers: relayerCount,
    alsoRich = [],
  }: { buyers: number; relayers: number; alsoRich?: readonly HDAccount[] },
): Promise<Shop> {
  const market = await deployMarket(client)
  const { merchant, reviewer, settler, treasury, stranger } = market.accounts
  const merchantId = await openMerchant(market, merchant)
  const product = { merchantId, productId: keccak256(toBytes('bench')) }
  await listProduct(market, merchant, product)
  const reviewerAgentId = await registerIdentity(market, reviewer)
  const review = { agentId: reviewerAgentId, product, content: '{"rating":5}', proofId: 1n }
  const { reviewId } = await publishWithProof(market, reviewer, review)

  const relayers = [settler]
  while (relayers.length < relayerCount) {
    relayers.push(await grantSettler(market, developmentAccount(RELAYERS_FROM + relayers.length)))
  }
  const buyers = Array.from({ length: buyerCount }, (_, index) => developmentAccount(BUYERS_FROM + index))
  // No balance starts at zero: writing an empty storage word costs more gas, once for each account.
  const rich = [...buyers, ...alsoRich, merchant, reviewer, treasury, stranger].map(({ address }) => address)
  for (const address of [...rich, market.addresses.CommissionEscrow]) await mintUsdc(market, address, MONEY)

  const key = await AttestationKey.signingKey(new Uint8Array(32).fill(1))
  const attributionToken = await AttributionToken.mint(
    {
      chainId: client.chain.id,
      splitRouter: market.addresses.SplitRouter,
      merchantEndpoint: 'https://shop.example/buy',
      merchantId: Number(merchantId),
      productId: product.productId,
      reviewId: Number(reviewId),
      reviewerAgentId: Number(reviewerAgentId),
      cashbackOfCommissionBps: 2_000,
      commissionMultiplierBps: 7_000,
      issuedAt: Math.floor(Date.now() / 1_000),
    },
    key,
  )
  const { attestationPubKey } = key
  return { market, relayers, buyers, wallet: stranger.address, attributionToken, attestationPubKey }
}

async function grantSettler(market: Market, account: HDAccount): Promise<HDAccount> {
  const { client, addresses, accounts } = market
  const router = { address: addresses.SplitRouter, abi: splitRouterAbi } as const
  const role = await client.readContract({ ...router, functionName: 'SETTLER_ROLE' })
  const hash = await client.writeContract({
    ...router,
    account: accounts.admin,
    functionName: 'grantRole',
    args: [role, account.address],
  })
  await confirmed(market, hash)
  return account
}

/** The token's EIP-712 domain, as offers name it. */
export async function tokenDomain({ client, addresses }: Market): Promise<{ name: string; version: string }> {
  const token = { address: addresses.USDC, abi: sandboxUSDCAbi } as const
  const [name, version] = await Promise.all([
    client.readContract({ ...token, functionName: 'name' }),
    client.readContract({ ...token, functionName: 'version' }),
  ])
  return { name, version }
}
