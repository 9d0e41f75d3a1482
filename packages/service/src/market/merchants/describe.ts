import { readContract } from '@referrer/chain'
import { isPlainlyPrivate } from '@referrer/net'
// Descriptions of merchants and their products, written by the merchant's present owner on the chain.
import { merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Address, isAddressEqual } from 'viem'
import type { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { hex, whole } from '../../kit/json-values.ts'
import type { ProductKey } from '../../kit/keys.ts'
import { MarketError, unavailable } from '../../kit/market-error.ts'
import { ownerOf } from '../../kit/onchain.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { refreshRefTokens } from '../ref-tokens/refresh.ts'
import { shownProduct } from './json.ts'
import { notFound, notOwner, productNotFound } from './refusals.ts'
import type { Product, ProductDescription, Profile, StoredProfile } from './shapes.ts'
import { findProduct, isRecorded, type Terms, writeDescription, writeProfile } from './store.ts'

/** Sets or edits the fields of a product that are not on the chain. */
export async function describeProduct(
  context: Context,
  chain: Chain,
  caller: Address,
  { merchant_id, product_id, ...description }: z.output<typeof ProductDescription>,
): Promise<z.output<typeof Product>> {
  requirePublic(context, 'endpoint_url', description.endpoint_url)
  await requireOwner(chain, merchant_id, caller)
  const { chainId } = chain.config
  const key = { chainId, merchantId: merchant_id, productId: bytesOf(product_id) }
  const [isKnown, row] = await Promise.all([
    isRecorded(context.sql, chainId, merchant_id),
    findProduct(context.sql, chainId, merchant_id, key.productId),
  ])
  if (!isKnown) throw notFound()
  const terms = row ?? (await readTerms(chain, key))
  const { rank } = await writeDescription(context.sql, key, description)
  await refreshRefTokens(context, key)
  return shownProduct(chainId, { ...terms, ...description, merchant_id, product_id: key.productId, rank })
}

/** Sets or edits a merchant's landing page and description; an empty text removes it. */
export async function describeMerchant(
  context: Context,
  chain: Chain,
  caller: Address,
  { merchant_id, description, landing_page_url }: z.output<typeof Profile>,
): Promise<z.output<typeof StoredProfile>> {
  if (landing_page_url) requirePublic(context, 'landing_page_url', landing_page_url)
  await requireOwner(chain, merchant_id, caller)
  const isKnown = await writeProfile(context.sql, chain.config.chainId, merchant_id, {
    description: description || null,
    landingPageUrl: landing_page_url || null,
  })
  if (!isKnown) throw notFound()
  return { merchant_id: whole(merchant_id), description, landing_page_url }
}

/** Refuses URLs with private hosts, because callers will fetch them from their own networks. */
function requirePublic({ config }: Pick<Context, 'config'>, field: string, url: string): void {
  if (!isPlainlyPrivate(new URL(url), config.allowPrivateHosts)) return
  const detail = `${field} must be an address that everybody can reach: its host is private`
  throw new MarketError('invalid input', 'invalid request', { detail })
}

async function requireOwner(chain: Chain, merchantId: bigint, caller: Address): Promise<void> {
  const owner = await ownerOf(chain, merchantId).catch((error: unknown) => {
    throw unavailable(`merchant ${merchantId}: resolve owner on-chain`, error)
  })
  if (!owner) throw notFound()
  if (!isAddressEqual(owner, caller)) throw notOwner()
}

/** The terms of a product that is on the chain but not indexed yet. The contract does not store the card's URI, so it is empty. */
async function readTerms(chain: Chain, { merchantId, productId }: ProductKey): Promise<Terms> {
  const product = await readContract(chain, {
    address: chain.config.contracts.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'getProduct',
    args: [merchantId, hex(productId)],
  }).catch((error: unknown) => {
    throw unavailable(`merchant ${merchantId}: read product on-chain`, error)
  })
  if (!product.listed) throw productNotFound()
  return { commission_bps: product.commissionBps, product_type: product.productType, card_uri: '' }
}
