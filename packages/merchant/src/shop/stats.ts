import { Money } from '@referrer/protocol'
import type { Hex } from 'viem'
import type { Shop } from './connect.ts'
import { merchantOf } from './list.ts'
import { MarketRefusal } from './rest.ts'

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

interface Sold {
  conversions: number
  gross_revenue_usdc: number
  escrows_held: number
  escrows_settled: number
}

/** What was sold, and how the products stand. */
export async function readStats(shop: Shop): Promise<ShopStats> {
  const { market } = shop
  const merchantId = merchantOf(shop)
  const path = `/v1/merchant/${merchantId}`
  const [merchant, sold] = await Promise.all([
    market.get<{ status: string; merchant_rank: number | null; product_ids: Hex[] }>(path),
    market.signIn().then((token) => market.get<Sold>(`${path}/stats`, token)),
  ])
  return {
    merchantId,
    status: merchant.status,
    merchantRank: merchant.merchant_rank,
    sales: sold.conversions,
    revenue: Money.format(BigInt(sold.gross_revenue_usdc)),
    escrowsHeld: sold.escrows_held,
    escrowsSettled: sold.escrows_settled,
    products: await Promise.all(merchant.product_ids.map((id) => productStats(shop, merchantId, id))),
  }
}

async function productStats(
  { market, project }: Shop,
  merchantId: number,
  productId: Hex,
): Promise<ProductStats> {
  const query = `merchant_id=${merchantId}&product_id=${productId}`
  const known = Object.values(project.data.products ?? {}).find(({ id }) => id === productId)
  const [product, { reviews }] = await Promise.all([
    market
      .get<{ name: string; commission_bps: number; product_rank: number }>(`/v1/merchant/product?${query}`)
      .catch((error: unknown) => {
        // A product that is closed is not shown.
        if (error instanceof MarketRefusal && error.status === 404) return undefined
        throw error
      }),
    market.get<{ reviews: unknown[] }>(`/v1/review?${query}`),
  ])
  return {
    productId,
    name: product?.name || known?.name || productId,
    isOpen: product !== undefined,
    ...(product && { commissionBps: product.commission_bps, productRank: product.product_rank }),
    reviews: reviews.length,
  }
}
