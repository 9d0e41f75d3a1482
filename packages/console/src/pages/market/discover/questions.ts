// What the search page asks of the market.
import type { AnswerOf } from '@referrer/client'
import { type Api, read } from '../../../api/api.ts'
import { ApiError } from '../../../api/error.ts'
import { parseUsdc } from '../../../format/usdc.ts'

const PER_PAGE = 24
const MOST_PRODUCTS = 10
const MOST_REPEATS = 4
const MOST_LOOKS = 4
const LOOK_AGAIN_MS = 1_500

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

type Found = AnswerOf<'/v1/discover', 'get'>

/** How many of the products found fit the words; the rest is there by its rank. */
export const fitting = ({ products }: Found): number =>
  products.filter(({ sub_scores }) => sub_scores.intent_match > 0).length

/** A busy market answers by ranks alone, as if nothing fitted: it is asked again a few times, because it knows the words by then. */
export const untilItFits = ({
  state: { data, dataUpdateCount },
}: {
  state: { data?: Found | undefined; dataUpdateCount: number }
}): number | false =>
  data && data.products.length > 0 && fitting(data) === 0 && dataUpdateCount < MOST_LOOKS
    ? LOOK_AGAIN_MS
    : false

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
