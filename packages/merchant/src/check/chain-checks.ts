import { SETTLEMENT_SIGNER_ROLE } from '@referrer/client/chain'
import { Money } from '@referrer/protocol'
import { identityRegistryAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Address, type Hex, isAddressEqual, type PublicClient } from 'viem'
import { addressOf, type Market } from '../market.ts'
import { type Check, check } from './report.ts'

export interface Seller {
  addressRegistry: Address
  merchantId: bigint | undefined
  productId: Hex | undefined
  /** What the endpoint asks, in base units. */
  price: bigint | undefined
  /** The address of the hot key. */
  signer: Address | undefined
}

/** What the chain says about the router, and about the merchant where it is named. */
export async function chainChecks(client: PublicClient, market: Market, seller: Seller): Promise<Check[]> {
  const code = await client.getCode({ address: market.splitRouter })
  const router = check(
    'router_has_code',
    code !== undefined && code !== '0x',
    market.splitRouter,
    `there is no contract at ${market.splitRouter}: check --registry`,
  )
  const { merchantId } = seller
  if (merchantId === undefined) return [router]
  const address = await addressOf(client, seller.addressRegistry, 'MERCHANT_REGISTRY')
  const registry = { address, abi: merchantRegistryAbi } as const
  const isActive = await client.readContract({ ...registry, functionName: 'isActive', args: [merchantId] })
  const merchant = check(
    'merchant_is_active',
    isActive,
    `merchant ${merchantId}`,
    `merchant ${merchantId} is not active, so nobody can buy: call setActive(${merchantId}, true) of ${address} as its owner, or ask whether it is suspended`,
  )
  return [
    router,
    merchant,
    ...(await productChecks(client, registry, merchantId, seller)),
    ...(await signerChecks(client, registry, merchantId, seller)),
  ]
}

type Registry = { address: Address; abi: typeof merchantRegistryAbi }

async function productChecks(
  client: PublicClient,
  registry: Registry,
  merchantId: bigint,
  { productId, price }: Seller,
): Promise<Check[]> {
  if (productId === undefined) return []
  const product = await client.readContract({
    ...registry,
    functionName: 'getProduct',
    args: [merchantId, productId],
  })
  const state = product.listed ? 'closed: call setProductActive' : 'not listed: call listProduct'
  const active = check(
    'product_is_active',
    product.active,
    `commission ${product.commissionBps / 100} %`,
    `product ${productId} of merchant ${merchantId} is ${state} of ${registry.address}`,
  )
  if (!product.listed || price === undefined) return [active]
  const least = Money.format(product.minPrice)
  const sufficient = check(
    'price_reaches_minimum',
    price >= product.minPrice,
    `${Money.format(price)} USDC, at least ${least}`,
    `the price ${Money.format(price)} is below the least price ${least} that the product has on-chain: raise it, or call setProductTerms`,
  )
  return [active, sufficient]
}

async function signerChecks(
  client: PublicClient,
  registry: Registry,
  merchantId: bigint,
  { addressRegistry, signer }: Seller,
): Promise<Check[]> {
  if (signer === undefined) return []
  const identities = await addressOf(client, addressRegistry, 'IDENTITY_REGISTRY')
  const [hasRole, owner] = await Promise.all([
    client.readContract({
      ...registry,
      functionName: 'hasRole',
      args: [merchantId, SETTLEMENT_SIGNER_ROLE, signer],
    }),
    client.readContract({
      address: identities,
      abi: identityRegistryAbi,
      functionName: 'ownerOf',
      args: [merchantId],
    }),
  ])
  const fix = `${signer} may not settle for merchant ${merchantId}: call grantRole(${merchantId}, ${SETTLEMENT_SIGNER_ROLE}, ${signer}) of ${registry.address} as its owner`
  return [check('signing_key_may_settle', hasRole || isAddressEqual(owner, signer), signer, fix)]
}
