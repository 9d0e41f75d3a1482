// Reads of merchants and products from the index.
import type { Queryable } from '@referrer/database'
import { type Address, type Hex, isAddressEqual } from 'viem'
import type { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { hex, whole } from '../../kit/json-values.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { offsetOf } from '../../machinery/db/page.ts'
import { shownFile } from '../registrations/json.ts'
import { shownMerchant, shownProduct } from './json.ts'
import { notFound, notOwner, productNotFound } from './refusals.ts'
import type { Merchant, Merchants, Product, Stats } from './shapes.ts'
import {
  countMerchants,
  countMerchantsOfOwner,
  findMerchant,
  findMerchantAlone,
  findProduct,
  listMerchants,
  type MerchantRow,
  merchantsOfOwner,
  productIdsOf,
  salesOf,
} from './store.ts'

/** Limit for the product ids of a merchant in a list; a merchant by itself shows all. */
export const LISTED_PRODUCT_IDS = 100

export async function getMerchant(
  context: Context,
  { config: { chainId } }: Chain,
  merchantId: bigint,
): Promise<z.output<typeof Merchant>> {
  const [row, productIds] = await Promise.all([
    findMerchantAlone(context.sql, chainId, merchantId),
    productIdsOf(context.sql, chainId, [merchantId], null),
  ])
  if (!row) throw notFound()
  const shown = shownMerchant(context, chainId, row, productIds.get(merchantId) ?? [])
  return { ...shown, ...shownFile(row) }
}

export async function getMerchants(
  context: Context,
  { config: { chainId } }: Chain,
  { page, limit }: { page: number; limit: number },
): Promise<z.output<typeof Merchants>> {
  const [rows, total] = await Promise.all([
    listMerchants(context.sql, chainId, { limit, offset: offsetOf({ page, limit }) }),
    countMerchants(context.sql, chainId),
  ])
  return { merchants: await shownList(context, chainId, rows), total: whole(total), page, limit }
}

async function shownList(
  context: Pick<Context, 'sql' | 'recovery'>,
  chainId: number,
  rows: MerchantRow[],
): Promise<z.output<typeof Merchant>[]> {
  const ids = rows.map(({ merchant_id }) => merchant_id)
  const productIds = await productIdsOf(context.sql, chainId, ids, LISTED_PRODUCT_IDS)
  return rows.map((row) => shownMerchant(context, chainId, row, productIds.get(row.merchant_id) ?? []))
}

/** One page of the merchants of an owner, by ascending id. */
export const merchantsOf = (
  context: Context,
  { config: { chainId } }: Chain,
  asked: { owner: Address; page: number; limit: number },
): Promise<z.output<typeof Merchants>> => readOwned(context)({ chainId, ...asked })

/** Limited to few concurrent reads, because an owner may have very many merchants. */
const READ_AT_ONCE = 4
interface OwnedKey {
  chainId: number
  owner: Address
  page: number
  limit: number
}
const readOwned = once(({ sql, recovery }) =>
  coalesceInTurns<OwnedKey, z.output<typeof Merchants>>(
    READ_AT_ONCE,
    ({ chainId, owner, page, limit }) => `${chainId}/${owner}/${page}/${limit}`,
    async ({ chainId, owner, page, limit }) => {
      const wallet = bytesOf(owner)
      const [rows, total] = await Promise.all([
        merchantsOfOwner(sql, chainId, wallet, { limit, offset: offsetOf({ page, limit }) }),
        countMerchantsOfOwner(sql, chainId, wallet),
      ])
      const merchants = await shownList({ sql, recovery }, chainId, rows)
      return { merchants, total: whole(total), page, limit }
    },
  ),
)

/** A product that is active. Its merchant may be closed, which the merchant's own status shows. */
export async function getProduct(
  { sql }: Pick<Context, 'sql'>,
  { config: { chainId } }: Chain,
  { merchantId, productId }: { merchantId: bigint; productId: Hex },
): Promise<z.output<typeof Product>> {
  const row = await findProduct(sql, chainId, merchantId, bytesOf(productId))
  if (!row?.active) throw productNotFound()
  return shownProduct(chainId, row)
}

/** Refuses a merchant that is not registered, and a caller who does not own it by the index. */
export async function requireMerchantOwner(
  sql: Queryable,
  chainId: number,
  caller: Address,
  merchantId: bigint,
): Promise<void> {
  const merchant = await findMerchant(sql, chainId, merchantId)
  if (!merchant) throw notFound()
  if (!isAddressEqual(hex(merchant.owner), caller)) throw notOwner()
}

/** Sales figures, for the merchant's owner only. */
export async function getStats(
  { sql }: Pick<Context, 'sql'>,
  { config: { chainId } }: Chain,
  caller: Address,
  merchantId: bigint,
): Promise<z.output<typeof Stats>> {
  await requireMerchantOwner(sql, chainId, caller, merchantId)
  const sales = await salesOf(sql, chainId, merchantId)
  return {
    conversions: whole(sales.conversions),
    gross_revenue_usdc: whole(sales.gross),
    escrows_held: whole(sales.held),
    escrows_settled: whole(sales.settled),
    products_active: whole(sales.products_active),
    products_total: whole(sales.products_total),
  }
}
