import { Money } from '@referrer/protocol'
import type { Hex } from 'viem'
import type { Shop } from './connect.ts'
import { isRefusal } from './indexed.ts'
import { merchantOf } from './list.ts'

export interface ShopStats {
  merchantId: number
  status: string
  merchantRank: number | null
  /** Sales through ref links. */
  sales: number
  /** What buyers paid for them, USDC as decimal text. */
  revenue: string
  escrowsHeld: number
  escrowsSettled: number
  products: ProductStats[]
}

export interface ProductStats {
  productId: Hex
  name: string
  isOpen: boolean
  commissionBps?: number
  productRank?: number
  /** The newest, a hundred at most. */
  reviews: number
}

/** What was sold, and how the products stand. */
export async function readStats(shop: Shop): Promise<ShopStats> {
  const { market } = shop
  const merchantId = merchantOf(shop)
  const params = { path: { id: merchantId } }
  const [merchant, sold] = await Promise.all([
    market.get('/v1/merchant/{id}', { params }),
    market.get('/v1/merchant/{id}/stats', { params }),
  ])
  return {
    merchantId,
    status: merchant.status,
    merchantRank: merchant.merchant_rank,
    sales: sold.conversions,
    revenue: Money.format(BigInt(sold.gross_revenue_usdc)),
    escrowsHeld: sold.escrows_held,
    escrowsSettled: sold.escrows_settled,
    products: await Promise.all(merchant.product_ids.map((id) => productStats(shop, merchantId, id as Hex))),
  }
}

async function productStats(
  { market, project }: Shop,
  merchantId: number,
  productId: Hex,
): Promise<ProductStats> {
  const params = { query: { merchant_id: merchantId, product_id: productId } }
  const known = Object.values(project.data.products ?? {}).find(({ id }) => id === productId)
  const [product, { reviews }] = await Promise.all([
    market.get('/v1/merchant/product', { params }).catch((error: unknown) => {
      // A product that is closed is not shown.
      if (isRefusal(error, 404)) return undefined
      throw error
    }),
    market.get('/v1/review', { params }),
  ])
  return {
    productId,
    name: product?.name || known?.name || productId,
    isOpen: product !== undefined,
    ...(product && { commissionBps: product.commission_bps, productRank: product.product_rank }),
    reviews: reviews.length,
  }
}
