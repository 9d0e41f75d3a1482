// What the search page asks of the market.
import { type Api, read } from '../../../api/api.ts'
import { ApiError } from '../../../api/error.ts'
import { parseUsdc } from '../../../format/usdc.ts'

const PER_PAGE = 24
const MOST_PRODUCTS = 10
const MOST_REPEATS = 4

/** The search as the address carries it. */
export interface DiscoverSearch {
  /** What one wants, in words. */
  q?: string | undefined
  category?: string | undefined
  /** The price ceiling in USDC. */
  most?: number | undefined
  /** Lower-ranked reviews, too. */
  all?: 'true' | undefined
  page?: number | undefined
}

export const categories = (api: Api) => read(api, '/v1/category')

export const catalogue = (api: Api, { category, page = 1 }: DiscoverSearch) =>
  read(api, '/v1/product', { params: { query: { ...(category && { category }), page, limit: PER_PAGE } } })

export function slates(api: Api, { q, category, most, all }: DiscoverSearch & { q: string }) {
  const ceiling = most === undefined ? undefined : parseUsdc(String(most))
  return {
    ...read(api, '/v1/discover', {
      params: {
        query: {
          intent: q,
          max_products: MOST_PRODUCTS,
          ...(category && { category }),
          ...(ceiling !== undefined && { price_ceiling: Number(ceiling) }),
          ...(all && { include_all: all }),
        },
      },
    }),
    // Who types fast meets the limit of searches: the next try comes when it allows one.
    retry: (count: number, error: Error) =>
      count < MOST_REPEATS && error instanceof ApiError && [0, 429, 503].includes(error.status),
    retryDelay: (_: number, error: Error) =>
      1_000 * (error instanceof ApiError ? (error.retryAfterSeconds ?? 1) : 1),
  }
}
