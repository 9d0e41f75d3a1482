// What a product's page asks of the market.

import type { AnswerOf } from '@referrer/client'
import { queryOptions } from '@tanstack/react-query'
import { type Api, read } from '../../../api/api.ts'

export interface ProductKey {
  merchant_id: number
  product_id: string
}

export type Product = AnswerOf<'/v1/merchant/product', 'get'>
export type ProductReview = AnswerOf<'/v1/product/reviews', 'get'>['reviews'][number]
export type RefLink = AnswerOf<'/r/{token}', 'get'>
export type ProductCard = AnswerOf<'/v1/product', 'get'>['products'][number]

const PER_PAGE = 50

const MERCHANT = /^[1-9]\d{0,14}$/
const PRODUCT = /^0x[0-9a-f]{64}$/i

/** The ids in the address of the page; undefined: there can be no such product. */
export function keyOf(params: { merchantId: string; productId: string }): ProductKey | undefined {
  if (!MERCHANT.test(params.merchantId) || !PRODUCT.test(params.productId)) return undefined
  return { merchant_id: Number(params.merchantId), product_id: params.productId.toLowerCase() }
}

export const product = (api: Api, key: ProductKey) =>
  read(api, '/v1/merchant/product', { params: { query: key } })

/** Price and counts, which only the catalogue knows; null while the product is not for sale. */
export const card = (api: Api, { merchant_id, product_id }: ProductKey) =>
  queryOptions({
    queryKey: ['card', merchant_id, product_id],
    queryFn: async ({ signal }): Promise<ProductCard | null> => {
      const { products } = await api.get('/v1/product', {
        params: { query: { merchant_id, product_id } },
        signal,
      })
      return products[0] ?? null
    },
  })

export const reviews = (api: Api, key: ProductKey, page = 1) =>
  read(api, '/v1/product/reviews', { params: { query: { ...key, page, limit: PER_PAGE } } })

export const history = (api: Api, key: ProductKey) =>
  read(api, '/v1/product/history', { params: { query: key } })

export const merchant = (api: Api, { merchant_id }: ProductKey) =>
  read(api, '/v1/merchant/{id}', { params: { path: { id: merchant_id } } })

/** The token at the end of a ref link. */
export const tokenOf = (refLink: string): string => refLink.slice(refLink.lastIndexOf('/') + 1)

export const link = (api: Api, refLink: string) =>
  read(api, '/r/{token}', { params: { path: { token: tokenOf(refLink) } } })

/** The review to buy through: the one that was chosen, else the one that is shown first, else the best that has a link. */
export const reviewToBuyThrough = (
  listed: ProductReview[],
  { review, through }: { review?: number | undefined; through?: number | undefined },
): (ProductReview & { ref_link: string }) | undefined => {
  const linked = listed.filter((review): review is ProductReview & { ref_link: string } => !!review.ref_link)
  return (
    linked.find(({ internal_id }) => internal_id === through) ??
    linked.find(({ on_chain_id }) => on_chain_id === review) ??
    linked[0]
  )
}
