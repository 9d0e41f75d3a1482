// What a buyer's review is worth: as an opinion of the product, and for the author whose link the buyer followed.
import type { Queryable, Transaction } from '@referrer/database'
import { opinionWeight, sizeOf, trustedSize } from '@referrer/ranking'
import { findStandings, trustOf } from '../votes/standings.ts'
import type { Purchase } from './store.ts'

/**
 * Whether the buyer's review `m` of the purchase `e` is within 0.25 of the review whose link was followed. Nobody
 * agrees with a review of the same owner, or about a shop that belongs to either of them.
 */
const agrees = (sql: Queryable) => sql`EXISTS (
  SELECT FROM chain.reviews AS c JOIN market.reviews AS link ON link.internal_id = c.internal_id
  LEFT JOIN chain.identities AS merchant ON merchant.chain_id = m.chain_id AND merchant.agent_id = m.merchant_id
  CROSS JOIN LATERAL (SELECT ARRAY[m.author_owner, e.payer, coalesce(e.buyer_owner, e.payer)] AS owners) AS buyer
  WHERE c.chain_id = e.chain_id AND c.review_id = e.review_id
    AND abs(round(link.satisfaction_score * 1000000) - round(m.satisfaction_score * 1000000)) <= 250000
    AND link.author_owner <> ALL(buyer.owners)
    AND (merchant.owner <> ALL(buyer.owners || link.author_owner)) IS NOT FALSE)`

export interface NewOpinion {
  /** The author's rank. */
  rank: number
  fullCommission: bigint
}

/**
 * Stores what a buyer's review is worth, when its first text is stored. A merchant's reviews of its own products are no
 * opinions.
 */
export async function writeOpinion(
  tx: Transaction,
  { chainId, internalId, authorOwner }: { chainId: number; internalId: bigint; authorOwner: Buffer },
  purchase: Purchase,
  { rank, fullCommission }: NewOpinion,
): Promise<void> {
  const standings = await findStandings(tx, chainId, { owner: authorOwner, merchantId: purchase.merchant_id })
  const size = trustedSize(sizeOf(purchase.commission, fullCommission), trustOf(standings))
  await tx`
    UPDATE market.reviews AS m SET opinion_size = ${size}, opinion_weight = ${opinionWeight(rank, size)},
      opinion_agrees = ${agrees(tx)}
    FROM chain.escrows AS e
    WHERE m.internal_id = ${internalId}
      AND e.chain_id = ${chainId} AND e.escrow_id = ${purchase.escrow_id} AND e.contract = ${purchase.contract}
      AND NOT EXISTS (
        SELECT FROM chain.identities AS merchant
        WHERE merchant.chain_id = m.chain_id AND merchant.agent_id = m.merchant_id AND merchant.owner = m.author_owner)`
}

/**
 * Stores whether buyers agree whose reviews are from before it was stored with the text, as these and the reviews of
 * their links are now. Reviews whose link is unknown are left.
 */
export async function writeOldAgreement(tx: Transaction, internalIds: readonly bigint[]): Promise<void> {
  await tx`
    UPDATE market.reviews AS m SET opinion_agrees = ${agrees(tx)}
    FROM chain.escrows AS e
    WHERE m.internal_id = ANY(${[...internalIds]}::bigint[]) AND m.opinion_agrees IS NULL AND m.opinion_size IS NOT NULL
      AND e.chain_id = m.chain_id AND e.escrow_id = m.proof_id AND e.buyer_agent_id = m.agent_id
      AND (e.merchant_id, e.product_id) = (m.merchant_id, m.product_id)
      AND EXISTS (
        SELECT FROM chain.reviews AS c JOIN market.reviews AS link USING (internal_id)
        WHERE c.chain_id = e.chain_id AND c.review_id = e.review_id AND link.content IS NOT NULL)`
}
