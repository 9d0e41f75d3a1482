// What the market says about a shop. Nothing is asked that would not be found: browsers log every such answer as an error.
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import type { Hex } from 'viem'
import { type Api, READ, read } from '../../../api/api.ts'
import { isNotFound } from '../../../api/error.ts'
import { useApi } from '../../../api/use-api.ts'

const MOST_CARDS = 100
/** Apart from the rest, because it is not asked again when the product was closed. */
const DESCRIBED = 'described product'

/** Products of a shop that are on sale, the best first. */
export const productsOnSale = (api: Api, merchantId: number) =>
  read(api, '/v1/product', { params: { query: { merchant_id: merchantId, limit: MOST_CARDS } } })

/** All shops of a wallet. */
export const shopsOf = (api: Api, owner: string) =>
  read(api, '/v1/merchant', { params: { query: { owner } } })

/** Null: the product is closed. */
const describedProduct = (api: Api, merchantId: number, productId: Hex) =>
  queryOptions({
    meta: READ,
    queryKey: [DESCRIBED, merchantId, productId],
    queryFn: () =>
      api
        .get('/v1/merchant/product', {
          params: { query: { merchant_id: merchantId, product_id: productId } },
        })
        .catch((error: unknown) => {
          if (isNotFound(error)) return null
          throw error
        }),
  })

interface Options {
  isEnabled?: boolean
  refetchInterval?: number
}

/** A product as its shop described it, and its card; both are missing while it is not on sale. */
export function useProduct(
  merchantId: number,
  productId: Hex | undefined,
  { isEnabled = true, ...again }: Options = {},
) {
  const api = useApi()
  const cards = useQuery({ ...productsOnSale(api, merchantId), ...again, enabled: isEnabled })
  const card = cards.data?.products.find(({ product_id }) => product_id === productId)
  // A shop with more products than are read at once has to be asked for this one.
  const isPossible = card !== undefined || cards.data?.has_more === true
  const described = useQuery({
    ...describedProduct(api, merchantId, productId ?? '0x'),
    ...again,
    enabled: isEnabled && productId !== undefined && isPossible,
  })
  return {
    products: cards.data?.products ?? [],
    card,
    described: isPossible ? (described.data ?? undefined) : undefined,
    error: cards.error ?? described.error,
    isLoading: cards.isLoading || described.isLoading,
  }
}

/** After a product was described. */
export const refreshDescribed = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: [DESCRIBED] })
