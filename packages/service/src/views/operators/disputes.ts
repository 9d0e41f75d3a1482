// A dispute with the evidence of both sides: the author's review, and what buyers of the product say.
import { z } from 'zod'
import { comparisonShown, Findings } from '../../derived/oracle/findings-shown.ts'
import { readFindings } from '../../derived/oracle/operations.ts'
import type { Chain, Context } from '../../kit/context.ts'
import { accountShown, id, wholeNumber } from '../../kit/fields.ts'
import { address, whole } from '../../kit/json-values.ts'
import { MarketError } from '../../kit/market-error.ts'
import { baseUnits } from '../../kit/money.ts'
import { type Route, route } from '../../kit/route.ts'
import { Dispute, disputeJson } from '../../market/admin/disputes.ts'
import { withJson } from '../../market/admin/fields.ts'
import { findDispute } from '../../market/reviews/disputes.ts'
import { reviewJson } from '../../market/reviews/json.ts'
import { Review } from '../../market/reviews/shapes.ts'
import { findReviewRecords } from '../../market/reviews/store.ts'
import { type BuyerReviewRow, buyerReviewsOf } from './store.ts'

const MOST_REVIEWS = 50

const DisputeCase = Dispute.extend({
  review: Review,
  findings: Findings,
  buyer_reviews: z
    .array(
      z.object({
        escrow_id: wholeNumber,
        price_usdc: baseUnits('What the buyer paid').nullable(),
        owner: accountShown
          .nullable()
          .meta({ about: 'Who owned the buyer when the review was published; null: not known.' }),
        review: Review,
      }),
    )
    .meta({ about: `Of purchases of the product, newest first, at most ${MOST_REVIEWS}.` }),
}).meta({ id: 'DisputeCase' })

export const disputeCaseRoute: Route = route({
  method: 'GET',
  path: '/admin/disputes/{internal_id}',
  tag: 'Admin',
  summary: 'A dispute, open or decided, with the evidence of both sides',
  auth: 'admin',
  params: z.object({ internal_id: id(1, 'invalid review id', 'The review, by its internal id.') }),
  takesChain: true,
  response: DisputeCase,
  refusals: { 404: 'not found' },
  handle: ({ context, chain, params }) => readDispute(context, chain, params.internal_id),
})

/** The texts of reviews are inserted byte for byte as they were published. */
async function readDispute(
  context: Context,
  { config: { chainId } }: Chain,
  internalId: bigint,
): Promise<string> {
  const { sql } = context
  const row = await findDispute(sql, chainId, internalId)
  if (!row) throw new MarketError('not found', 'not found')
  const [compared, buyers] = await Promise.all([
    readFindings(sql, row),
    buyerReviewsOf(sql, chainId, {
      merchantId: row.merchant_id,
      productId: row.product_id,
      without: internalId,
      limit: MOST_REVIEWS,
    }),
  ])
  const records = await findReviewRecords(sql, [internalId, ...buyers.map(({ internal_id }) => internal_id)])
  const reviews = new Map(records.map((record) => [record.internal_id, reviewJson(context, record, 'alone')]))
  const said = buyers.map((buyer) => buyerJson(context, buyer, reviews.get(buyer.internal_id) ?? '{}'))
  const parts = [
    `"review":${reviews.get(internalId)}`,
    `"findings":${JSON.stringify(comparisonShown(context, compared))}`,
    `"buyer_reviews":[${said.join(',')}]`,
  ]
  return `${disputeJson(row).slice(0, -1)},${parts.join(',')}}`
}

const buyerJson = ({ recovery }: Context, { escrow_id, price, owner }: BuyerReviewRow, review: string) =>
  withJson(
    {
      escrow_id: whole(escrow_id),
      price_usdc: price === null ? null : whole(price),
      owner: owner && address(recovery, owner),
    },
    'review',
    review,
  )
