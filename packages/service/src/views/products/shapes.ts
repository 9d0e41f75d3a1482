import { z } from 'zod'
import { hex32, optional, wholeNumber } from '../../kit/fields.ts'
import { hex, whole } from '../../kit/json-values.ts'
import { baseUnits } from '../../kit/money.ts'
import { productType } from '../../market/merchants/json.ts'
import { ListedReview } from '../../market/reviews/shapes.ts'
import { AgentCard } from '../agents/card.ts'
import { pageShown } from '../page.ts'
import { reviewFigures } from '../reviews.ts'
import type { ProductCardRow } from './store.ts'

export const ProductCard = z
  .object({
    merchant_id: wholeNumber,
    chain_id: wholeNumber,
    product_id: hex32,
    name: z.string().meta({ about: 'Empty until the merchant describes the product.' }),
    description: z.string().meta({ about: 'Its first 280 characters.' }),
    category: z.string(),
    product_type: z.enum(['Repeat', 'One-off']),
    product_rank: z.number(),
    price_usdc: optional(baseUnits('What its endpoint last asked for, left out when that is not known')),
    commission_bps: wholeNumber.meta({
      about: 'The share of the price that is offered for a referred sale.',
    }),
    review_count: wholeNumber.meta({ about: 'Of published reviews.' }),
    sales_count: wholeNumber,
    endpoint_url: z.string().optional().meta({ about: 'Where the product is bought.' }),
  })
  .meta({ id: 'ProductCard' })

export const Products = z.object({ products: z.array(ProductCard), ...pageShown }).meta({ id: 'Products' })

const ProductReview = ListedReview.extend({
  ...reviewFigures,
  author: AgentCard,
  is_buyer_review: z
    .boolean()
    .meta({ about: 'Whether the author bought the product here and reviews that.' }),
}).meta({ id: 'ProductReview' })

export const ProductReviews = z
  .object({ reviews: z.array(ProductReview), ...pageShown })
  .meta({ id: 'ProductReviews' })

const day = z.string().meta({ about: 'In UTC.', shown: { type: 'string', format: 'date' } })

export const ProductHistory = z
  .object({
    points: z
      .array(
        z.object({
          day,
          product_rank: z.number(),
          opinions: wholeNumber.meta({ about: 'How many opinions the rank rests on.' }),
        }),
      )
      .meta({ about: 'The days on which the rank changed, and today.' }),
    sales: z.array(z.object({ day, count: wholeNumber, revenue_usdc: baseUnits('What buyers paid') })),
  })
  .meta({ id: 'ProductHistory' })

export const Categories = z
  .object({ categories: z.array(z.object({ category: z.string(), products: wholeNumber })) })
  .meta({ id: 'Categories' })

export const shownCard = (chainId: number, row: ProductCardRow): z.output<typeof ProductCard> => ({
  merchant_id: whole(row.merchant_id),
  chain_id: chainId,
  product_id: hex(row.product_id),
  name: row.name,
  description: row.description,
  category: row.category,
  product_type: productType(row),
  product_rank: row.rank,
  ...(row.price !== null && { price_usdc: whole(row.price) }),
  commission_bps: row.commission_bps,
  review_count: whole(row.review_count),
  sales_count: whole(row.sales_count),
  ...(row.endpoint_url && { endpoint_url: row.endpoint_url }),
})
