import { createCache } from '@referrer/process'
import type { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { once } from '../../kit/context.ts'
import { whole } from '../../kit/json-values.ts'
import type { ProductKey } from '../../kit/keys.ts'
import { MarketError } from '../../kit/market-error.ts'
import { cardsOf } from '../agents/card.ts'
import { type PageQuery, READ_AT_ONCE, readPage } from '../page.ts'
import { listedReviews } from '../reviews.ts'
import { productHistory } from './history.ts'
import { type Categories, type ProductHistory, type Products, shownCard } from './shapes.ts'
import {
  isProduct,
  largestCategories,
  openProducts,
  type ProductFilter,
  publishedAbout,
  type ReviewOrder,
} from './store.ts'

const MOST_CATEGORIES = 200
const KEPT_MS = 5_000

const notFound = () => new MarketError('not found', 'product not found')
const nameOf = ({ chainId, merchantId, productId }: ProductKey) =>
  `${chainId}/${merchantId}/${productId.toString('hex')}`

interface ListKey extends ProductFilter, PageQuery {
  chainId: number
}

/** Open products, best first. */
export const listProducts = once(({ sql }) =>
  coalesceInTurns<ListKey, z.output<typeof Products>>(
    READ_AT_ONCE,
    ({ chainId, merchantId, productId, category, page, limit }) =>
      JSON.stringify([chainId, String(merchantId), productId?.toString('hex'), category, page, limit]),
    async ({ chainId, page, limit, ...filter }) => {
      const { rows, ...shown } = await readPage({ page, limit }, (part) =>
        openProducts(sql, chainId, filter, part),
      )
      return { products: rows.map((row) => shownCard(chainId, row)), ...shown }
    },
  ),
)

/** The published reviews of a product with their authors, as JSON. */
export const reviewsOfProduct = once((context) =>
  coalesceInTurns<ProductKey & PageQuery & { order: ReviewOrder }, string>(
    READ_AT_ONCE,
    (key) => `${nameOf(key)}/${key.order}/${key.page}/${key.limit}`,
    async ({ page, limit, order, ...key }) => {
      const { sql } = context
      const [{ rows, has_more }, isKnown] = await Promise.all([
        readPage({ page, limit }, (part) => publishedAbout(sql, key, order, part)),
        isProduct(sql, key),
      ])
      if (!isKnown) throw notFound()
      const cards = await cardsOf(
        context,
        key.chainId,
        rows.map(({ agent_id }) => agent_id),
      )
      const known = rows.filter(({ agent_id }) => cards.has(agent_id))
      const reviews = await listedReviews(context, known, ({ agent_id, is_buyer_review }) => ({
        author: cards.get(agent_id),
        is_buyer_review,
      }))
      return `{"reviews":${reviews},"page":${page},"limit":${limit},"has_more":${has_more}}`
    },
  ),
)

export const historyOfProduct = once((context) =>
  coalesceInTurns<ProductKey, z.output<typeof ProductHistory>>(READ_AT_ONCE, nameOf, async (key) => {
    if (!(await isProduct(context.sql, key))) throw notFound()
    return productHistory(context, key)
  }),
)

export const listCategories = once(({ sql, clock }) =>
  createCache<number, z.output<typeof Categories>>({
    keyOf: String,
    load: async (chainId) => ({
      categories: (await largestCategories(sql, chainId, MOST_CATEGORIES)).map(({ category, count }) => ({
        category,
        products: whole(count),
      })),
    }),
    ttlMs: () => KEPT_MS,
    clock,
    max: 100,
  }),
)
