// Products sold through links, and their reviews.
import { listProduct, type Market, type Product, publishWithProof } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { must } from './caller.ts'
import { productOf, type TestMarket } from './market.ts'

/** The keys of a single review. */
export const KEYS = [
  ...['internal_id', 'on_chain_id', 'agent_id', 'merchant_id', 'product_id', 'satisfaction_score', 'status'],
  ...['content_json', 'ref_link', 'published_at', 'comparison_outcome', 'edited_at'],
]
export const OUTCOMES = ['pending', 'confirmed', 'contradicted', 'disputed', 'resolved']
export const ENDPOINT = 'https://shop.test/buy'

/** Lists the product with this number. Its reviews have links if it has an endpoint. */
export async function sell(
  m: TestMarket,
  merchantId: bigint,
  number: number,
  endpoint?: string,
): Promise<Product> {
  const { merchant } = m.market.accounts
  const product = { merchantId, productId: productOf(number) }
  await listProduct(m.market, merchant, product)
  if (!endpoint) return product
  await m.indexed()
  const { productId: product_id } = product
  const texts = { name: 'Weather', description: 'Of tomorrow', category: 'books' }
  const body = { merchant_id: Number(merchantId), product_id, endpoint_url: endpoint, ...texts }
  await must(m.call('POST', '/v1/merchant/product', { as: merchant, body }))
  return product
}

export interface Written {
  owner: LocalAccount
  agentId: bigint
  product: Product
  content: string
}

let proofs = 0n

/** Publishes with an approved proof. The service learns of it from the chain, without its text. */
export async function publish(market: Market, { owner, ...review }: Written): Promise<number> {
  const { reviewId } = await publishWithProof(market, owner, { ...review, proofId: ++proofs })
  return Number(reviewId)
}

/** Registers the text of a review, as a caller who is not its author. */
export const register = ({ call, market }: TestMarket, body: unknown, query = '') =>
  call('POST', `/v1/review/register${query}`, { as: market.accounts.stranger, body })

/** Registers and requires success. Returns the internal id. */
export async function registered(
  m: TestMarket,
  reviewId: number,
  content: string,
  query = '',
): Promise<number> {
  const body = { review_id: reviewId, escrow_id: 0, content_json: content }
  return (await must(register(m, body, query))).review_id
}

export const internalIdOf = async (
  { sql }: TestMarket,
  chainId: number,
  reviewId: number,
): Promise<number> => {
  const [row] = await sql<{ internal_id: bigint }[]>`
    SELECT internal_id FROM chain.reviews WHERE chain_id = ${chainId} AND review_id = ${reviewId}`
  if (!row) throw new Error(`review ${reviewId} is not in the records`)
  return Number(row.internal_id)
}
