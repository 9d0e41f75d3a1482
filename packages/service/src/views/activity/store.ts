import type { Queryable } from '@referrer/database'
import { type PurchaseRow, purchaseColumns } from './purchase.ts'

/** The newest purchase with this escrow id. Each deployment of the escrow contract counts from 1, so an id can occur twice. */
export async function findPurchase(
  sql: Queryable,
  chainId: number,
  escrowId: bigint,
): Promise<(PurchaseRow & { contract: Buffer }) | undefined> {
  const [row] = await sql<(PurchaseRow & { contract: Buffer })[]>`
    SELECT e.contract, ${purchaseColumns(sql)} FROM chain.escrows AS e
    WHERE e.chain_id = ${chainId} AND e.escrow_id = ${escrowId} ORDER BY e.deposited_at DESC LIMIT 1`
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
