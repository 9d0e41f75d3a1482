import { ReferrerError } from '@referrer/client'
import { SETTLEMENT_SIGNER_ROLE } from '@referrer/client/chain'
import { merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Address, isAddressEqual } from 'viem'
import { requireGas, type Shop } from './connect.ts'
import { ensureIdentity } from './identity.ts'
import { onceIndexed } from './indexed.ts'
import { ShopError } from './report.ts'
import { send, settle } from './send.ts'

export interface OpenOptions {
  /** An identity of the owner that is there already. */
  merchantId?: number | undefined
  /** Forget the identity of the project file, and mint another one. */
  isNew?: boolean | undefined
  /** Who gets the merchant's share of sales; the owner unless it is said. */
  payout?: Address | undefined
  /** The address of the server's hot key, which may ask for settlements and nothing else. */
  settlementSigner?: Address | undefined
  description?: string | undefined
  website?: string | undefined
  /** Who settles, where the market does not tell. */
  facilitator?: string | undefined
}

export interface Opened {
  merchantId: number
  owner: Address
}

/** Identity, open for sale, hot key, known to the market. What is there already stays as it is. */
export async function openShop(shop: Shop, options: OpenOptions = {}): Promise<Opened> {
  const { project, deployment, network, owner, reporter } = shop
  const { chainId, contracts, marketUrl } = deployment
  const facilitator = options.facilitator ?? deployment.facilitatorUrl
  const before = project.data.facilitator
  if (options.isNew) {
    const {
      merchantId: _id,
      pendingIdentity: _pending,
      addressRegistry: _registry,
      products: _products,
      ...kept
    } = project.data
    project.replace(kept)
  }
  project.save({
    network: network.name,
    market: marketUrl,
    rpc: shop.rpcUrl,
    chainId,
    addressRegistry: contracts.AddressRegistry,
    ...(facilitator !== undefined && { facilitator }),
  })
  if (project.data.facilitator === undefined) {
    throw new ShopError(`the market at ${marketUrl} does not say who settles: add --facilitator <URL>`)
  }
  if (facilitator !== undefined && before !== undefined && before !== facilitator) {
    const text = `${facilitator} settles, before ${before}`
    reporter.step({ name: 'facilitator', changed: true, text })
  }
  await requireGas(shop)
  await settle(shop)
  const merchantId = await ensureIdentity(shop, options.merchantId)
  await activate(shop, merchantId)
  if (options.payout) await payTo(shop, merchantId, options.payout)
  const signer = options.settlementSigner ?? project.data.settlementSigner
  if (signer) await letSettle(shop, merchantId, signer)
  await register(shop, merchantId)
  await describeMerchant(shop, merchantId, options)
  return { merchantId, owner: owner.address }
}

const registryOf = ({ deployment }: Shop) =>
  ({ address: deployment.contracts.MerchantRegistry, abi: merchantRegistryAbi }) as const

async function activate(shop: Shop, merchantId: number): Promise<void> {
  const { client, reporter } = shop
  const registry = registryOf(shop)
  const args = [BigInt(merchantId)] as const
  const isSuspended = await client.readContract({ ...registry, functionName: 'isSuspended', args })
  if (isSuspended) {
    throw new ShopError(
      `merchant ${merchantId} is suspended, so nobody can buy: ask the operator of the market why`,
    )
  }
  if (await client.readContract({ ...registry, functionName: 'isActive', args })) {
    reporter.step({ name: 'active', changed: false, text: `merchant ${merchantId} is open for sale` })
    return
  }
  const transaction = await send(shop, 'setActive', [BigInt(merchantId), true])
  reporter.step({
    name: 'active',
    changed: true,
    text: `opened merchant ${merchantId} for sale`,
    transaction,
  })
}

async function payTo(shop: Shop, merchantId: number, payout: Address): Promise<void> {
  const { client, reporter } = shop
  const args = [BigInt(merchantId)] as const
  const now = await client.readContract({ ...registryOf(shop), functionName: 'payoutWallet', args })
  if (isAddressEqual(now, payout)) {
    reporter.step({ name: 'payout', changed: false, text: `sales are paid to ${payout}` })
    return
  }
  const transaction = await send(shop, 'setPayoutWallet', [BigInt(merchantId), payout])
  reporter.step({
    name: 'payout',
    changed: true,
    text: `sales are paid to ${payout}, before to ${now}`,
    transaction,
  })
}

async function letSettle(shop: Shop, merchantId: number, signer: Address): Promise<void> {
  const { client, reporter, project, owner } = shop
  if (isAddressEqual(signer, owner.address)) {
    throw new ShopError("the server's hot key must not be the owner's key: make another one for the server")
  }
  const args = [BigInt(merchantId), SETTLEMENT_SIGNER_ROLE, signer] as const
  const isAllowed = await client.readContract({ ...registryOf(shop), functionName: 'hasRole', args })
  const transaction = isAllowed ? undefined : await send(shop, 'grantRole', args)
  project.save({ settlementSigner: signer })
  reporter.step({
    name: 'settlement key',
    changed: !isAllowed,
    text: `${signer} may ask for settlements, and nothing else`,
    ...(transaction && { transaction }),
  })
}

async function register({ market, reporter }: Shop, merchantId: number): Promise<void> {
  const step = { name: 'registered', text: `the market knows merchant ${merchantId}` }
  try {
    await reporter.during(
      'registering at the market',
      market.post('/v1/merchant/register', { body: { merchant_id: merchantId } }),
    )
    reporter.step({ ...step, changed: true })
  } catch (error) {
    if (!(error instanceof ReferrerError) || error.reason !== 'merchant already registered') throw error
    reporter.step({ ...step, changed: false })
  }
}

async function describeMerchant(
  { market, reporter }: Shop,
  merchantId: number,
  { description, website }: OpenOptions,
): Promise<void> {
  if (description === undefined && website === undefined) return
  const was = await reporter.during(
    'waiting until the market has seen the merchant on the chain',
    onceIndexed(
      () => market.get('/v1/merchant/{id}', { params: { path: { id: merchantId } } }),
      `the market does not show merchant ${merchantId} yet: run this again`,
    ),
  )
  const profile = {
    description: description ?? was.description ?? '',
    landing_page_url: website ?? was.landing_page_url ?? '',
  }
  const changed =
    profile.description !== (was.description ?? '') ||
    profile.landing_page_url !== (was.landing_page_url ?? '')
  if (changed) await market.post('/v1/merchant/profile', { body: { merchant_id: merchantId, ...profile } })
  reporter.step({
    name: 'profile',
    changed,
    text: `the market shows: ${profile.description || profile.landing_page_url}`,
  })
}
