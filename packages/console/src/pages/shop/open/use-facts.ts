import { useQuery } from '@tanstack/react-query'
import { type Hex, isAddressEqual } from 'viem'
import { useApi } from '../../../api/use-api.ts'
import { merchantOnChain, productOnChain } from '../parts/chain-state.ts'
import { shopsOf, useProduct } from '../parts/market-state.ts'
import { readinessOf } from '../parts/readiness.tsx'
import type { OnChain } from '../parts/with-chain.tsx'

/** Often enough to see a block or a sale as it comes. */
const LOOK_MS = 3_000

/** All that the steps rest on, looked at again and again while the page is open. */
export function useFacts(
  onChain: OnChain,
  merchantId: number | undefined,
  productId: Hex | undefined,
  typedEndpoint: string | undefined,
) {
  const api = useApi()
  const id = merchantId ?? 0
  const again = { refetchInterval: LOOK_MS, retry: false }
  const merchant = useQuery({
    ...merchantOnChain(onChain, id),
    ...again,
    enabled: merchantId !== undefined,
  })
  const { owner } = merchant.data ?? {}
  const isOwned = owner !== undefined && isAddressEqual(owner, onChain.connected.address)
  const shops = useQuery({ ...shopsOf(api, onChain.connected.address), ...again, enabled: isOwned })
  const shop = shops.data?.merchants.find(({ merchant_id }) => merchant_id === merchantId)
  const chosen = useQuery({
    ...productOnChain(onChain, id, productId ?? '0x'),
    ...again,
    enabled: isOwned && productId !== undefined,
  })
  const isListed = chosen.data?.active === true
  const atMarket = useProduct(id, productId, { isEnabled: shop !== undefined, refetchInterval: LOOK_MS })
  const told = isListed ? atMarket.described : undefined
  const endpoint = typedEndpoint ?? told?.endpoint_url
  const readiness = useQuery(readinessOf(api, isListed ? endpoint : undefined))
  return {
    merchant: merchant.data,
    product: chosen.data,
    told,
    endpoint,
    productIds: (shop?.product_ids ?? []) as Hex[],
    names: new Map(atMarket.products.map(({ product_id, name }) => [product_id, name])),
    error: merchant.error ?? shops.error ?? chosen.error ?? atMarket.error,
    isLoading: merchant.isLoading || shops.isLoading || chosen.isLoading || atMarket.isLoading,
    facts: {
      isOwned,
      isActive: merchant.data?.isActive === true,
      isKnown: shop !== undefined,
      isListed,
      isReady: readiness.data?.pass === true,
      isDescribed: Boolean(told?.name && told.endpoint_url),
      hasSale: (atMarket.card?.sales_count ?? 0) > 0,
    },
  }
}
