// The tokens of ref links. A link is made when the text of its review is known and the product has an endpoint to buy from, and again when
// the endpoint, the key that signs or the router changes.
import { createHash } from 'node:crypto'
import { AttributionToken, ProtocolError } from '@referrer/protocol'
import { BASE_RATES, effectiveRank, multiplierBps, PRODUCT_TYPES } from '@referrer/ranking'
import type { Chain, Context } from '../../kit/context.ts'
import { hex } from '../../kit/json-values.ts'
import type { LinkedReview, Token } from './store.ts'

/** Who signs the links of a chain. */
export type Signing = Pick<Chain, 'attestation' | 'config'>

/** What all tokens of a chain have in common: who signs, and the router they name. Empty: there is no key, so there are no links. */
export function signerOf({ attestation, config }: Signing): string {
  return attestation ? `${attestation.key.kid}/${config.contracts.SplitRouter.at(-1)}` : ''
}

/** Names what a token was made of. */
export function tokenKeyOf(chain: Signing, endpoint: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([signerOf(chain), endpoint]))
    .digest('hex')
}

/** Of a review's author, for products like this one. */
export function authorRankOf(review: LinkedReview): number {
  const type = PRODUCT_TYPES[review.product_type] ?? 'repeat'
  return effectiveRank(review.flagged, review[type]) ?? BASE_RATES[type]
}

/** What is to be written of a review's link. */
export const tokenOf = async (
  context: Pick<Context, 'clock'>,
  chain: Signing,
  endpoint: string | null,
  review: LinkedReview,
): Promise<Token> => ({
  internalId: review.internal_id,
  reviewId: review.review_id,
  key: tokenKeyOf(chain, endpoint),
  token: await mintToken(context, chain, endpoint, review),
})

/** Null: such a review has no link. */
async function mintToken(
  { clock }: Pick<Context, 'clock'>,
  { attestation, config }: Signing,
  endpoint: string | null,
  review: LinkedReview,
): Promise<string | null> {
  const splitRouter = config.contracts.SplitRouter.at(-1)
  if (!attestation || !endpoint || !splitRouter) return null
  try {
    return await AttributionToken.mint(
      {
        chainId: config.chainId,
        splitRouter,
        merchantEndpoint: endpoint,
        merchantId: Number(review.merchant_id),
        productId: hex(review.product_id),
        reviewId: Number(review.review_id),
        reviewerAgentId: Number(review.agent_id),
        cashbackOfCommissionBps: review.cashback_bps,
        commissionMultiplierBps: multiplierBps(authorRankOf(review)),
        issuedAt: Math.floor(clock() / 1_000),
      },
      attestation.key,
    )
  } catch (error) {
    // An endpoint that no token can carry: the product is sold, but not through links.
    if (error instanceof ProtocolError) return null
    throw error
  }
}
