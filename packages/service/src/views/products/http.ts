import { z } from 'zod'
import { id, optional, productId, text } from '../../kit/fields.ts'
import { MarketError } from '../../kit/market-error.ts'
import { type Route, route } from '../../kit/route.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { LONGEST_LIST, pageFields } from '../page.ts'
import { historyOfProduct, listCategories, listProducts, reviewsOfProduct } from './operations.ts'
import { Categories, ProductHistory, ProductReviews, Products } from './shapes.ts'
import { NEWEST } from './store.ts'

const LONGEST_CATEGORY = 64

const merchantId = id(0, 'invalid merchant_id', 'The merchant.')
const product = { merchant_id: merchantId, product_id: productId }

export const productViewRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/product',
    tag: 'Merchants',
    summary: 'Products that are open for sale',
    about: `Those of the highest Product Rank first; of all, of a merchant, or of a category. With \`merchant_id\` and \`product_id\` the one product, if it is open. The list ends after ${LONGEST_LIST} products, open and closed ones.`,
    auth: 'none',
    query: z.object({
      merchant_id: optional(merchantId),
      product_id: optional(productId),
      category: optional(
        text(LONGEST_CATEGORY, 1).meta({
          about: 'Exactly this category.',
          shown: { type: 'string', minLength: 1, maxLength: LONGEST_CATEGORY },
        }),
      ),
      ...pageFields,
    }),
    takesChain: true,
    response: Products,
    refusals: { 400: 'invalid merchant_id' },
    handle({ context, chain, query: { merchant_id: merchantId, product_id, category, ...query } }) {
      // The products of two merchants may have the same id.
      if (product_id && merchantId === undefined)
        throw new MarketError('invalid input', 'invalid merchant_id')
      const productId = product_id && bytesOf(product_id)
      return listProducts(context)({
        chainId: chain.config.chainId,
        merchantId,
        productId,
        category,
        ...query,
      })
    },
  }),
  route({
    method: 'GET',
    path: '/v1/product/reviews',
    tag: 'Reviews',
    summary: 'The published reviews of a product, with their authors',
    about: `By default those of the best authors first, then the newest; of a product with more than ${NEWEST} reviews: the newest ${NEWEST}, and those of the best authors. With \`sort=newest\` the newest first, of ${LONGEST_LIST} at most.`,
    auth: 'none',
    query: z.object({
      ...product,
      sort: z
        .enum(['best', 'newest'])
        .default('best')
        .meta({
          about: 'Which reviews come first.',
          shown: { type: 'string', enum: ['best', 'newest'], default: 'best' },
        }),
      ...pageFields,
    }),
    takesChain: true,
    response: ProductReviews,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, query: { merchant_id: merchantId, product_id, sort, page, limit } }) =>
      reviewsOfProduct(context)({
        chainId: chain.config.chainId,
        merchantId,
        productId: bytesOf(product_id),
        order: sort,
        page,
        limit,
      }),
  }),
  route({
    method: 'GET',
    path: '/v1/product/history',
    tag: 'Merchants',
    summary: 'The rank and the sales of a product over time',
    about:
      'The last 366 days in UTC. The rank of a day is computed from the opinions published by then that count today. If there were opinions before the first day, it has a point of its own.',
    auth: 'none',
    query: z.object(product),
    takesChain: true,
    response: ProductHistory,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, query }) =>
      historyOfProduct(context)({
        chainId: chain.config.chainId,
        merchantId: query.merchant_id,
        productId: bytesOf(query.product_id),
      }),
  }),
  route({
    method: 'GET',
    path: '/v1/category',
    tag: 'Merchants',
    summary: 'The categories of products',
    about: 'Those with the most open products first, 200 at most. At most five seconds old.',
    auth: 'none',
    takesChain: true,
    response: Categories,
    handle: ({ context, chain }) => listCategories(context)(chain.config.chainId),
  }),
]
