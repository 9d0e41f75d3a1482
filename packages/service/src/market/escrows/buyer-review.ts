import type { Queryable } from '@referrer/database'
import { whenBought, whenPublished } from '../../kit/chain-order.ts'

/** The proof kind of a review that a buyer published about a purchase. */
export const BY_ESCROW = 2

/**
 * SQL after FROM that finds the review `c`, and its row `m`, that the buyer of a purchase `e` published about it. It is written so that
 * only the index by proof fits: the planner may choose another index, which holds hundreds of reviews for one buyer or product.
 */
export const buyerReview = (sql: Queryable, chainId: number) => sql`
  chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
  WHERE c.chain_id = ${chainId} AND c.proof_kind = ${BY_ESCROW} AND c.proof_id = e.escrow_id
    -- A new deployment of the escrow contract counts from 1 again, so the review of an older purchase can have the same proof id.
    AND (c.agent_id, c.merchant_id, c.product_id) IS NOT DISTINCT FROM (e.buyer_agent_id, e.merchant_id, e.product_id)
    AND ${whenPublished(sql)} >= ${whenBought(sql)}`
