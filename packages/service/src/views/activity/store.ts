import type { Queryable } from '@referrer/database'
import { whenBought } from '../../kit/chain-order.ts'
import { type PurchaseRow, purchaseColumns } from '../../market/escrows/purchase.ts'
import { isOnChain } from '../../market/reviews/store.ts'
import { type FiguresRow, figuresColumns, figuresJoin } from '../reviews.ts'

/** The newest purchase with this escrow id. Each deployment of the escrow contract counts from 1, so an id can occur twice. */
export async function findPurchase(
  sql: Queryable,
  chainId: number,
  escrowId: bigint,
): Promise<(PurchaseRow & { contract: Buffer }) | undefined> {
  const [row] = await sql<(PurchaseRow & { contract: Buffer })[]>`
    SELECT e.contract, ${purchaseColumns(sql)} FROM chain.escrows AS e
    WHERE e.chain_id = ${chainId} AND e.escrow_id = ${escrowId} ORDER BY ${whenBought(sql)} DESC LIMIT 1`
  return row
}

/** Purchases, newest first; those before `before`, where it is given. */
export function newestPurchases(
  sql: Queryable,
  chainId: number,
  before: (Pick<PurchaseRow, 'deposited_at' | 'escrow_id'> & { contract: Buffer }) | undefined,
  limit: number,
): Promise<PurchaseRow[]> {
  const older = before
    ? sql`AND (e.deposited_at, e.escrow_id, e.contract) < (${before.deposited_at}, ${before.escrow_id}, ${before.contract})`
    : sql``
  return sql<PurchaseRow[]>`
    SELECT ${purchaseColumns(sql)} FROM chain.escrows AS e
    WHERE e.chain_id = ${chainId} ${older}
    ORDER BY e.deposited_at DESC, e.escrow_id DESC, e.contract DESC LIMIT ${limit}`
}

export type NewestReviewRow = FiguresRow & { product_name: string; product_active: boolean }

/** Published reviews, newest first; those before `before`, where it is given. */
export function newestReviews(
  sql: Queryable,
  chainId: number,
  before: bigint | undefined,
  limit: number,
): Promise<NewestReviewRow[]> {
  return sql<NewestReviewRow[]>`
    WITH newest AS (
      SELECT m.internal_id, m.merchant_id, m.product_id FROM market.reviews AS m
      WHERE m.chain_id = ${chainId} AND m.content IS NOT NULL AND ${isOnChain(sql)}
        ${before === undefined ? sql`` : sql`AND m.internal_id < ${before}`}
      ORDER BY m.internal_id DESC LIMIT ${limit}
    ), page AS (
      SELECT newest.*, (SELECT c.review_id FROM chain.reviews AS c WHERE c.internal_id = newest.internal_id) AS review_id FROM newest
    )
    SELECT ${figuresColumns(sql, chainId)},
      coalesce((SELECT p.name FROM market.products AS p WHERE p.chain_id = ${chainId}
        AND p.merchant_id = page.merchant_id AND p.product_id = page.product_id), '') AS product_name,
      coalesce((SELECT p.active FROM chain.products AS p WHERE p.chain_id = ${chainId}
        AND p.merchant_id = page.merchant_id AND p.product_id = page.product_id), false) AS product_active
    FROM page ${figuresJoin(sql)} ORDER BY page.internal_id DESC`
}
