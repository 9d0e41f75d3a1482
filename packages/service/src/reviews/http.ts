import { z } from 'zod'
import {
  bodyId,
  hex32,
  INVALID_PRODUCT_ID,
  id,
  integer,
  momentShown,
  ofPages,
  optional,
  page,
  productId,
  readable,
  wholeNumber,
} from '../http/fields.ts'
import { type Route, route } from '../http/route.ts'
import { MarketError } from '../market-error.ts'
import { whole } from '../present.ts'
import { listOfProduct, listPublished, readReview, readReviewRecord } from './operations.ts'
import { registerReview } from './register.ts'

const DEFAULT_LIMIT = 100
const MOST = 500

const fields = {
  internal_id: wholeNumber,
  on_chain_id: wholeNumber.nullable().meta({ about: 'Null while the review is not on the chain.' }),
  agent_id: wholeNumber,
  merchant_id: wholeNumber,
  product_id: hex32,
  satisfaction_score: z.number().nullable(),
  status: z.enum(['published', 'pending']).meta({ about: 'Published: on the chain, and its text is known.' }),
  content_json: z.record(z.string(), z.unknown()),
  ref_link: z.string().meta({ about: 'Where to buy through this review; empty when it has no link.' }),
  published_at: momentShown.nullable(),
  comparison_outcome: z.enum(['pending', 'confirmed', 'contradicted', 'disputed', 'resolved']),
  edited_at: momentShown.nullable().meta({ about: 'When the text was last changed on the chain.' }),
}
const Review = z.object(fields).meta({ id: 'Review' })
const ListedReview = z
  .object({ ...fields, ref_link: z.string().optional().meta({ about: 'Left out when there is no link.' }) })
  .meta({ id: 'ListedReview' })
const Listing = z
  .object({ reviews: z.array(ListedReview), total: wholeNumber, page: wholeNumber, limit: wholeNumber })
  .meta({ id: 'ReviewListing' })
const OfProduct = z
  .object({ reviews: z.array(ListedReview), merchant_id: wholeNumber, product_id: hex32 })
  .meta({ id: 'ReviewsOfProduct' })

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
      page: ofPages(page),
      limit: ofPages(
        integer(DEFAULT_LIMIT, 'How many, 1 to 500; anything else is 100.', (number) =>
          number < 1 || number > MOST ? DEFAULT_LIMIT : number,
        ),
      ),
    }),
    takesChain: true,
    response: z.union([Listing, OfProduct]),
    refusals: { 400: ['invalid page', 'invalid limit'] },
    handle({ context, chain, query }) {
      const { chainId } = chain.config
      const { merchant_id: merchantId, product_id: productId } = query
      if (merchantId === undefined && productId === undefined) {
        const [page, limit] = [readable(query.page, 'page'), readable(query.limit, 'limit')]
        return listPublished(context, { chainId, page, limit })
      }
      if (merchantId === undefined) throw new MarketError('invalid input', 'invalid merchant_id')
      if (productId === undefined) throw new MarketError('invalid input', INVALID_PRODUCT_ID)
      return listOfProduct(context, { chainId, merchantId, productId })
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
    },
    takesChain: true,
    response: z
      .object({
        ref_link: z.string().meta({ about: 'Empty when the review has no link.' }),
        review_id: wholeNumber.meta({ about: 'The `internal_id`.' }),
        status: z
          .literal('buyer_review_registered')
          .optional()
          .meta({ about: 'Only for the review of a purchase.' }),
      })
      .meta({ id: 'RegisteredReview' }),
    refusals: {
      400: ['content hash mismatch: the text is not the one that review 7 was published with: invalid input'],
      403: 'not authorized',
      404: 'not found',
      409: [
        'purchase 7 needs a vote on a review of its product before its own review is registered; cast it and retry: conflict',
        'review 7 has just changed on-chain — retry: conflict',
      ],
    },
    async handle({ context, chain, body }) {
      const { refLink, internalId, isOfBuyer } = await registerReview(context, chain, {
        reviewId: body.review_id,
        escrowId: body.escrow_id,
        contentJson: body.content_json,
      })
      return {
        ref_link: refLink,
        review_id: whole(internalId),
        ...(isOfBuyer && { status: 'buyer_review_registered' }),
      }
    },
  }),
]
