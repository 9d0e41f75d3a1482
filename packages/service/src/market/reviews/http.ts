import { z } from 'zod'
import { REVIEW_BODY } from '../../kit/body-limits.ts'
import {
  bodyId,
  INVALID_PRODUCT_ID,
  id,
  integer,
  lenient,
  optional,
  page,
  productId,
  requireValue,
} from '../../kit/fields.ts'
import { MarketError } from '../../kit/market-error.ts'
import { type Route, route } from '../../kit/route.ts'
import { checkContent } from './check.ts'
import { listOfProduct, listPublished, readReview, readReviewRecord } from './operations.ts'
import { registerReview } from './register.ts'
import {
  CheckedContent,
  Listing,
  OfProduct,
  RegisteredReview,
  Review,
  registered,
  registrationOf,
  withinList,
} from './shapes.ts'

const DEFAULT_LIMIT = 100

const reviewId = (about: string) => z.object({ id: id(1, 'invalid review id', about) })

export const reviewRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/review',
    tag: 'Reviews',
    summary: 'List reviews: all that are published, or those of one product',
    about: 'With `merchant_id` and `product_id`: the newest 100 of that product, without pages.',
    auth: 'none',
    query: z.object({
      merchant_id: optional(id(0, 'invalid merchant_id', 'The merchant; goes with `product_id`.')),
      product_id: optional(productId),
      page: lenient(page),
      limit: lenient(
        integer(DEFAULT_LIMIT, 'How many, 1 to 500; anything else is 100.', withinList(DEFAULT_LIMIT)),
      ),
    }),
    takesChain: true,
    response: z.union([Listing, OfProduct]),
    refusals: { 400: ['invalid page', 'invalid limit'] },
    handle({ context, chain, query }) {
      const { chainId } = chain.config
      const { merchant_id: merchantId, product_id: productId } = query
      if (merchantId === undefined && productId === undefined) {
        const [page, limit] = [requireValue(query.page, 'page'), requireValue(query.limit, 'limit')]
        return listPublished(context, { chainId, page, limit, texts: 'whole' })
      }
      if (merchantId === undefined) throw new MarketError('invalid input', 'invalid merchant_id')
      if (productId === undefined) throw new MarketError('invalid input', INVALID_PRODUCT_ID)
      return listOfProduct(context, { chainId, merchantId, productId, texts: 'whole' })
    },
  }),
  route({
    method: 'GET',
    path: '/v1/review/{id}',
    tag: 'Reviews',
    summary: 'One review, by its id on the chain',
    auth: 'none',
    params: reviewId('The id on the chain.'),
    takesChain: true,
    response: Review,
    refusals: { 404: 'review not found' },
    handle: ({ context, chain, params }) => readReview(context, chain.config.chainId, params.id),
  }),
  route({
    method: 'GET',
    path: '/v1/review-internal/{id}',
    tag: 'Reviews',
    summary: 'One review, by the id of its record, on the chain or not',
    auth: 'none',
    params: reviewId('The `internal_id`.'),
    takesChain: true,
    response: Review,
    refusals: { 404: 'review not found' },
    about: 'Records of all chains are numbered together: left out, `chain_id` leaves none out.',
    handle: ({ context, chain, isChainNamed, params }) =>
      readReviewRecord(context, params.id, isChainNamed ? chain.config.chainId : undefined),
  }),
  route({
    method: 'POST',
    path: '/v1/review/register',
    tag: 'Reviews',
    summary: 'Bring the text of a review that is on the chain',
    about:
      'Whoever knows the text may: its hash must be the one on the chain. Repeating the call changes nothing. ' +
      '`content_json` is the exact text that was hashed, as a string.',
    auth: 'caller',
    body: {
      schema: z.object({
        review_id: bodyId,
        escrow_id: bodyId
          .default(0n)
          .meta({ shown: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 } }),
        content_json: z.string(),
      }),
      refusal: 'invalid request',
      most: REVIEW_BODY,
    },
    takesChain: true,
    response: RegisteredReview,
    refusals: {
      400: ['content hash mismatch: the text is not the one that review 7 was published with: invalid input'],
      403: 'not authorized',
      404: 'not found',
      409: [
        'purchase 7 needs a vote on a review of its product before its own review is registered; cast it and retry: conflict',
        'review 7 has just changed on-chain — retry: conflict',
      ],
    },
    handle: async ({ context, chain, body }) =>
      registered(await registerReview(context, chain, registrationOf(body))),
  }),
  route({
    method: 'POST',
    path: '/v1/review/check',
    tag: 'Reviews',
    summary: 'Check the text of a review before it is published',
    about: 'Whether it would be taken as a review of the product. Changes nothing.',
    auth: 'none',
    body: {
      schema: z.object({ merchant_id: bodyId, product_id: productId, content_json: z.string() }),
      refusal: 'invalid request',
      most: REVIEW_BODY,
    },
    takesChain: true,
    response: CheckedContent,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, body }) =>
      checkContent(context, chain, {
        merchantId: body.merchant_id,
        productId: body.product_id,
        contentJson: body.content_json,
      }),
  }),
]
