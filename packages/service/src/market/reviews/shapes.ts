// Schemas of reviews, for both doors.
import type { Hex } from 'viem'
import { z } from 'zod'
import { hex32, momentShown, wholeNumber } from '../../kit/fields.ts'
import { time, whole } from '../../kit/json-values.ts'
import type { Registered, Registration } from './register.ts'

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
export const Review = z.object(fields).meta({ id: 'Review' })

export const ListedReview = z
  .object({ ...fields, ref_link: z.string().optional().meta({ about: 'Left out when there is no link.' }) })
  .meta({ id: 'ListedReview' })

/** A field of reviews in answers that shorten long texts. */
export const contentShortened = z
  .literal(true)
  .optional()
  .meta({ about: '`content_json` is not all of it; the review by its id has that.' })

const ShortReview = ListedReview.extend({ content_shortened: contentShortened }).meta({ id: 'ShortReview' })

const listingOf = <T extends z.ZodType>(review: T) =>
  z.object({ reviews: z.array(review), total: wholeNumber, page: wholeNumber, limit: wholeNumber })
const ofProduct = <T extends z.ZodType>(review: T) =>
  z.object({ reviews: z.array(review), merchant_id: wholeNumber, product_id: hex32 })

export const Listing = listingOf(ListedReview).meta({ id: 'ReviewListing' })
export const OfProduct = ofProduct(ListedReview).meta({ id: 'ReviewsOfProduct' })
export const ShortListing = listingOf(ShortReview)
export const ShortOfProduct = ofProduct(ShortReview)

export const RegisteredReview = z
  .object({
    ref_link: z.string().meta({ about: 'Empty when the review has no link.' }),
    review_id: wholeNumber.meta({ about: 'The `internal_id`.' }),
    status: z
      .literal('buyer_review_registered')
      .optional()
      .meta({ about: 'Only for the review of a purchase.' }),
  })
  .meta({ id: 'RegisteredReview' })

interface GivenRegistration {
  review_id: bigint
  escrow_id: bigint
  content_json: string
}

export const registrationOf = (given: GivenRegistration): Registration => ({
  reviewId: given.review_id,
  escrowId: given.escrow_id,
  contentJson: given.content_json,
})

export const registered = ({ refLink, internalId, isOfBuyer }: Registered) => ({
  ref_link: refLink,
  review_id: whole(internalId),
  ...(isOfBuyer && { status: 'buyer_review_registered' }),
})

export const SubmittedReview = z
  .object({
    status: z.literal('submitted'),
    review_id: wholeNumber.meta({ about: 'The `internal_id`. The review is not on the chain yet.' }),
    content_hash: hex32,
  })
  .meta({ id: 'SubmittedReview' })

export const submitted = ({ internalId, contentHash }: { internalId: bigint; contentHash: Hex }) => ({
  status: 'submitted',
  review_id: whole(internalId),
  content_hash: contentHash,
})

export const UpdatedReview = z
  .object({
    review_id: wholeNumber.meta({ about: 'The `internal_id`.' }),
    status: z.literal('updated'),
    content_hash: hex32,
    edited_at: momentShown.nullable().meta({ about: 'When the text was last changed on the chain.' }),
  })
  .meta({ id: 'UpdatedReview' })

export const updated = ({ internalId, contentHash, editedAt }: Registered) => ({
  review_id: whole(internalId),
  status: 'updated',
  content_hash: contentHash,
  edited_at: editedAt && time(editedAt),
})

export const CheckedContent = z
  .object({
    valid: z.boolean(),
    problem: z.string().optional().meta({ about: 'Only when not valid: what would be refused, and why.' }),
    content_needs: z
      .object({
        schema_name: z.string().meta({ about: 'The category, which the operator has a schema for.' }),
        schema: z.record(z.string(), z.unknown()).meta({ about: 'JSON Schema of the whole content.' }),
        must_hold: z.array(z.string()).meta({ about: 'Arithmetic between its figures.' }),
      })
      .optional()
      .meta({ about: 'Only when not valid, and the category of the product has a schema.' }),
  })
  .meta({ id: 'CheckedContent' })

/** Page size of a list: 1 to 500; other values become the default. */
export const withinList = (fallback: number) => (number: number) =>
  number < 1 || number > MOST ? fallback : number

const MOST = 500
