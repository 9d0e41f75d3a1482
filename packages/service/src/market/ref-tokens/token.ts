// The tokens of ref links. A token is created when the text of its review is known and the product has an endpoint, and replaced when the
// endpoint, the signing key or the router changes.
import { createHash } from 'node:crypto'
import { SignerError } from '@referrer/process'
import { AttributionToken, ProtocolError } from '@referrer/protocol'
import { BASE_RATES, effectiveRank, multiplierBps, PRODUCT_TYPES } from '@referrer/ranking'
import type { Chain, Context } from '../../kit/context.ts'
import { hex } from '../../kit/json-values.ts'
import type { LinkedReview, Token } from './store.ts'

/** The part of a chain that signing a token needs. */
export type Signing = Pick<Chain, 'attestation' | 'config'>

/** Identifies the signing key and the router that all tokens of a chain share. Empty when there is no key, and so no links. */
export function signerOf({ attestation, config }: Signing): string {
  return attestation ? `${attestation.ring.current.kid}/${config.contracts.SplitRouter.at(-1)}` : ''
}

/** Hash of the inputs of a token that can change: signing key, router and endpoint. */
export function tokenKeyOf(chain: Signing, endpoint: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([signerOf(chain), endpoint]))
    .digest('hex')
}

/** The rank of a review's author for the type of the product. */
export function authorRankOf(review: LinkedReview): number {
  const type = PRODUCT_TYPES[review.product_type] ?? 'repeat'
  return effectiveRank(review.flagged, review[type]) ?? BASE_RATES[type]
}

/** The token of a review as it is stored. */
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

/** Whether this process signs the links of a chain, or there are none. */
export const signsHere = ({ attestation }: Signing) => !attestation || attestation.key !== undefined

/** How to lock the endpoint of a product for the token of one review: whoever does not sign here marks the product. */
export const lockFor = (chain: Signing) => (signsHere(chain) ? 'one review' : 'all')

/** Signs the token; returns null when the review cannot have a link. Throws a `SignerError` when a remote signer is away. */
async function mintToken(
  { clock }: Pick<Context, 'clock'>,
  { attestation, config }: Signing,
  endpoint: string | null,
  review: LinkedReview,
): Promise<string | null> {
  const splitRouter = config.contracts.SplitRouter.at(-1)
  if (!attestation || !endpoint || !splitRouter) return null
  if (!attestation.key) throw new SignerError('another process signs ref links')
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
    // The endpoint does not fit into a token: the product can be bought, but not through ref links.
    if (error instanceof ProtocolError) return null
    throw error
  }
}
