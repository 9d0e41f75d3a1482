import type { Queryable } from '@referrer/database'
import { whenBought, whenPublished } from '../../kit/chain-order.ts'
import type { Page } from '../../machinery/db/page.ts'
import { BY_ESCROW } from '../../market/escrows/buyer-review.ts'

/** Agents that are on the chain, by ascending id. */
export function listAgentIds(
  sql: Queryable,
  chainId: number,
  { isFlagged, limit, offset }: Page & { isFlagged: boolean },
): Promise<{ agent_id: bigint; flagged_at: Date | null }[]> {
  return sql<{ agent_id: bigint; flagged_at: Date | null }[]>`
    SELECT a.agent_id, a.flagged_at FROM market.agents AS a
    WHERE a.chain_id = ${chainId} ${isFlagged ? sql`AND a.flagged` : sql``}
      AND (SELECT true FROM chain.identities AS i WHERE i.chain_id = a.chain_id AND i.agent_id = a.agent_id)
    ORDER BY a.agent_id LIMIT ${limit} OFFSET ${offset}`
}

export type BuyerReviewRow = {
  internal_id: bigint
  escrow_id: bigint
  /** Null when the purchase is not known. */
  price: bigint | null
  /** Who owned the author when the review was published; null: not known. */
  owner: Buffer | null
}

/** The newest published reviews that buyers of a product wrote about their purchases, without one. */
export function buyerReviewsOf(
  sql: Queryable,
  chainId: number,
  {
    merchantId,
    productId,
    without,
    limit,
  }: { merchantId: bigint; productId: Buffer; without: bigint; limit: number },
): Promise<BuyerReviewRow[]> {
  return sql<BuyerReviewRow[]>`
    SELECT c.internal_id, c.proof_id AS escrow_id, m.author_owner AS owner, bought.price
    FROM chain.reviews AS c
    JOIN market.reviews AS m USING (internal_id)
    LEFT JOIN LATERAL (
      SELECT e.price FROM chain.escrows AS e
      WHERE e.chain_id = c.chain_id AND e.escrow_id = c.proof_id AND e.buyer_agent_id = c.agent_id
        AND ${whenBought(sql)} <= ${whenPublished(sql)}
      ORDER BY e.deposited_at DESC, e.block_number DESC, e.log_index DESC LIMIT 1) AS bought ON true
    WHERE c.chain_id = ${chainId} AND c.merchant_id = ${merchantId} AND c.product_id = ${productId}
      AND c.proof_kind = ${BY_ESCROW} AND c.internal_id <> ${without} AND m.content IS NOT NULL
    ORDER BY c.published_at DESC, c.review_id DESC LIMIT ${limit}`
}
