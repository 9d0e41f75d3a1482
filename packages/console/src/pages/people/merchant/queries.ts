// What the page of a merchant shows, as queries.
import type { AnswerOf } from '@referrer/client'
import { queryOptions } from '@tanstack/react-query'
import { type Api, read } from '../../../api/api.ts'
import { pageOf } from '../../market/parts/search-values.ts'

export const PRODUCTS = 12
/** The newest reviews are looked for among so many of its best products. */
const PRODUCTS_WITH_REVIEWS = 3
const REVIEWS_OF_PRODUCT = 4

export interface MerchantSearch {
  /** Page of the products. */
  page?: number | undefined
  /** Whether to look what the merchant sells elsewhere: it asks other servers. */
  elsewhere?: true | undefined
}

export const readSearch = (given: Record<string, unknown>): MerchantSearch => ({
  page: pageOf(given.page),
  elsewhere: given.elsewhere === true ? true : undefined,
})

type Product = AnswerOf<'/v1/product', 'get'>['products'][number]

export const summaryQuery = (api: Api, id: number) =>
  read(api, '/v1/merchant/{id}/summary', { params: { path: { id } } })

export const productsQuery = (api: Api, id: number, { page = 1 }: MerchantSearch) =>
  read(api, '/v1/product', { params: { query: { merchant_id: id, page, limit: PRODUCTS } } })

export const reviewsQueries = (api: Api, products: readonly Product[]) =>
  products
    .filter(({ review_count }) => review_count > 0)
    .slice(0, PRODUCTS_WITH_REVIEWS)
    .map(({ merchant_id, product_id }) =>
      read(api, '/v1/product/reviews', {
        params: { query: { merchant_id, product_id, limit: REVIEWS_OF_PRODUCT } },
      }),
    )

type Discovered = AnswerOf<'/v1/merchant/{id}/discovery', 'get'>

/** Other servers may not answer: that is something to say, and not a reason to show no page. */
export const elsewhereQuery = (api: Api, id: number) =>
  queryOptions({
    queryKey: ['elsewhere', id],
    queryFn: ({ signal }): Promise<Discovered['items'] | null> =>
      api
        .get('/v1/merchant/{id}/discovery', { params: { path: { id } }, signal })
        .then(({ items }) => items)
        .catch(() => null),
  })
