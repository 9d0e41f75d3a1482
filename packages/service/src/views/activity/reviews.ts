// The newest reviews, for a page that shows what is going on: each with the name of its product.
import { createCache } from '@referrer/process'
import { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { once } from '../../kit/context.ts'
import { id, optional } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { ListedReview } from '../../market/reviews/shapes.ts'
import { hasMore, limit, READ_AT_ONCE } from '../page.ts'
import { listedReviews, reviewFigures } from '../reviews.ts'
import { newestReviews } from './store.ts'

const NewestReviews = z
  .object({
    reviews: z.array(
      ListedReview.extend({
        ...reviewFigures,
        product_name: z.string().meta({ about: 'Empty until the merchant describes the product.' }),
        product_active: z.boolean().meta({ about: 'False: its merchant has closed the product.' }),
      }).meta({ id: 'NewestReview' }),
    ),
    has_more: hasMore,
  })
  .meta({ id: 'NewestReviews' })

interface Asked {
  chainId: number
  before: bigint | undefined
  limit: number
}
const nameOf = ({ chainId, before, limit }: Asked) => `${chainId}/${before}/${limit}`

/** The first page of the console shows them, so everybody shares one read. */
const KEPT_MS = 2_000
const KEPT = 100

const readNewest = once((context) =>
  createCache<Asked, string>({
    keyOf: nameOf,
    load: coalesceInTurns(READ_AT_ONCE, nameOf, async ({ chainId, before, limit }) => {
      const rows = await newestReviews(context.sql, chainId, before, limit + 1)
      const reviews = await listedReviews(
        context,
        rows.slice(0, limit),
        ({ product_name, product_active }) => ({ product_name, product_active }),
      )
      return `{"reviews":${reviews},"has_more":${rows.length > limit}}`
    }),
    ttlMs: () => KEPT_MS,
    clock: context.clock,
    max: KEPT,
  }),
)

export const newestReviewsRoute: Route = route({
  method: 'GET',
  path: '/v1/activity/reviews',
  tag: 'Reviews',
  summary: 'The newest reviews, with the names of their products',
  about:
    'Published ones, newest first. For the next page set `before` to the last `internal_id`. The answer is at most two seconds old.',
  auth: 'none',
  query: z.object({
    limit,
    before: optional(id(1, 'invalid before', 'An `internal_id`: only older reviews.')),
  }),
  takesChain: true,
  response: NewestReviews,
  handle: ({ context, chain, query }) =>
    readNewest(context)({ chainId: chain.config.chainId, before: query.before, limit: query.limit }),
})
