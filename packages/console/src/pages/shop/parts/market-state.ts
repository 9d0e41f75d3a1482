// What the market says about a shop, where "nothing" is an answer: null, so that looking again and again does not begin anew each time.
import { queryOptions } from '@tanstack/react-query'
import type { Hex } from 'viem'
import type { Api } from '../../../api/api.ts'
import { isNotFound } from '../../../api/error.ts'

const orNull = <T>(asked: Promise<T>): Promise<T | null> =>
  asked.catch((error: unknown) => {
    if (isNotFound(error)) return null
    throw error
  })

/** Null: the market has not recorded the merchant. */
export const merchantAtMarket = (api: Api, merchantId: number) =>
  queryOptions({
    queryKey: ['/v1/merchant/{id}/summary', merchantId, 'or null'],
    queryFn: () => orNull(api.get('/v1/merchant/{id}/summary', { params: { path: { id: merchantId } } })),
  })

/** Null: the product is closed, or not seen yet. */
export const productAtMarket = (api: Api, merchantId: number, productId: Hex) =>
  queryOptions({
    queryKey: ['/v1/merchant/product', merchantId, productId, 'or null'],
    queryFn: () =>
      orNull(
        api.get('/v1/merchant/product', {
          params: { query: { merchant_id: merchantId, product_id: productId } },
        }),
      ),
  })
