import type { Queryable } from '@referrer/database'

/** The proof of a review that a buyer published of a purchase. */
export const BY_ESCROW = 2

/**
 * What follows FROM to find the review `c`, with its record `m`, that the buyer of a purchase `e` published of it. Only the index by proof
 * can be used for it: others look as good to the planner, and have hundreds of reviews for one buyer or one product.
 */
export const buyerReview = (sql: Queryable, chainId: number) => sql`
  chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
  WHERE c.chain_id = ${chainId} AND c.proof_kind = ${BY_ESCROW} AND c.proof_id = e.escrow_id
    -- A replaced escrow contract counts from 1 again: the review of an older purchase is not one of this.
    AND (c.agent_id, c.merchant_id, c.product_id) IS NOT DISTINCT FROM (e.buyer_agent_id, e.merchant_id, e.product_id)
    AND c.published_at >= e.deposited_at`
