import type { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { address, hex, time, whole } from '../../kit/json-values.ts'
import type { Merchant, Product } from './shapes.ts'
import type { Description, MerchantRow, Terms } from './store.ts'

/** Whether the present owner opened the merchant; settings of a former owner do not count. */
const isOwners = ({ opened_by, owner }: MerchantRow) => opened_by?.equals(owner) ?? false

/** The address that receives the merchant's share of sales. */
export const payoutOf = (row: MerchantRow): Buffer => (isOwners(row) && row.payout) || row.owner

export function shownMerchant(
  { recovery }: Pick<Context, 'recovery'>,
  chainId: number,
  row: MerchantRow,
  productIds: readonly Buffer[],
): z.output<typeof Merchant> {
  return {
    merchant_id: whole(row.merchant_id),
    chain_id: chainId,
    owner_address: address(recovery, row.owner),
    payout_wallet: address(recovery, payoutOf(row)),
    status: row.suspended ? 'suspended' : row.active && isOwners(row) ? 'active' : 'inactive',
    merchant_rank: row.rank,
    registered_at: time(row.registered_at),
    ...(row.metadata_uri && { metadata_uri: row.metadata_uri }),
    ...(row.description && { description: row.description }),
    ...(row.landing_page_url && { landing_page_url: row.landing_page_url }),
    product_ids: productIds.map(hex),
  }
}

/** The name of a product type by its number on the chain. */
export const productType = ({ product_type }: { product_type: number }) =>
  product_type === 1 ? 'One-off' : 'Repeat'

type Shown = Omit<Description, 'endpoint_url'> &
  Terms & { merchant_id: bigint; product_id: Buffer; endpoint_url: string | null; rank: number }

export const shownProduct = (chainId: number, row: Shown): z.output<typeof Product> => ({
  merchant_id: whole(row.merchant_id),
  chain_id: chainId,
  product_id: hex(row.product_id),
  name: row.name,
  description: row.description,
  category: row.category,
  commission_bps: row.commission_bps,
  product_type: productType(row),
  product_rank: row.rank,
  cashback_bps: 0,
  ...(row.endpoint_url && { endpoint_url: row.endpoint_url }),
  ...(row.card_uri && { card_uri: row.card_uri }),
})
