// A purchase, as everybody may see it.
import type { Queryable } from '@referrer/database'
import { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { accountShown, hex32, momentShown, wholeNumber } from '../../kit/fields.ts'
import { address, hex, time, whole } from '../../kit/json-values.ts'
import { baseUnits } from '../../kit/money.ts'

export const Purchase = z
  .object({
    escrow_id: wholeNumber,
    happened_at: momentShown,
    merchant_id: wholeNumber,
    product_id: hex32,
    product_name: z.string().meta({ about: 'Empty until the merchant describes the product.' }),
    review_id: wholeNumber.meta({ about: 'The review whose link was used, by its id on the chain.' }),
    review_internal_id: wholeNumber
      .nullable()
      .meta({ about: 'The same review by its `internal_id`; null: there is no such review.' }),
    reviewer_agent_id: wholeNumber,
    buyer_agent_id: wholeNumber.nullable().meta({ about: 'Null: bought by a wallet without an agent.' }),
    payer: accountShown,
    price_usdc: baseUnits('What the buyer paid'),
    commission_usdc: baseUnits('The part of the price that is the commission'),
    immediate_usdc: baseUnits('The part of the commission that the reviewer got at once'),
    held_back_usdc: baseUnits('The part that is held back for the reviewer'),
    cashback_usdc: baseUnits('The part that is set aside for the buyer'),
    fee_usdc: baseUnits('The part that the platform takes'),
    transaction: hex32,
  })
  .meta({ id: 'Purchase' })

export type PurchaseRow = {
  escrow_id: bigint
  deposited_at: Date
  merchant_id: bigint
  product_id: Buffer
  product_name: string
  review_id: bigint
  review_internal_id: bigint | null
  reviewer_agent_id: bigint
  buyer_agent_id: bigint | null
  payer: Buffer
  price: bigint
  commission: bigint
  fee: bigint
  held_back: bigint
  cashback: bigint
  transaction_hash: Buffer
}

/**
 * The columns of a `PurchaseRow`, from a row `e` of `chain.escrows`. The names are scalar subqueries, because the planner may turn joins
 * into scans of whole tables.
 */
export const purchaseColumns = (sql: Queryable) => sql`
  e.escrow_id, e.deposited_at, e.merchant_id, e.product_id, e.review_id, e.reviewer_agent_id, e.buyer_agent_id, e.payer, e.price,
  e.commission, e.fee, e.held_back, e.cashback, e.transaction_hash,
  coalesce((
    SELECT p.name FROM market.products AS p
    WHERE p.chain_id = e.chain_id AND p.merchant_id = e.merchant_id AND p.product_id = e.product_id), '') AS product_name,
  (SELECT c.internal_id FROM chain.reviews AS c
    WHERE c.chain_id = e.chain_id AND c.review_id = e.review_id) AS review_internal_id`

export const shownPurchase = (
  { recovery }: Pick<Context, 'recovery'>,
  row: PurchaseRow,
): z.output<typeof Purchase> => ({
  escrow_id: whole(row.escrow_id),
  happened_at: time(row.deposited_at),
  merchant_id: whole(row.merchant_id),
  product_id: hex(row.product_id),
  product_name: row.product_name,
  review_id: whole(row.review_id),
  review_internal_id: row.review_internal_id === null ? null : whole(row.review_internal_id),
  reviewer_agent_id: whole(row.reviewer_agent_id),
  buyer_agent_id: row.buyer_agent_id === null ? null : whole(row.buyer_agent_id),
  payer: address(recovery, row.payer),
  price_usdc: whole(row.price),
  commission_usdc: whole(row.commission),
  immediate_usdc: whole(row.commission - row.fee - row.cashback - row.held_back),
  held_back_usdc: whole(row.held_back),
  cashback_usdc: whole(row.cashback),
  fee_usdc: whole(row.fee),
  transaction: hex(row.transaction_hash),
})
