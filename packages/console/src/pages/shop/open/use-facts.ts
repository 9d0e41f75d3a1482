import { useQuery } from '@tanstack/react-query'
import { type Hex, isAddressEqual } from 'viem'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { merchantOnChain, productOnChain } from '../parts/chain-state.ts'
import { merchantAtMarket, productAtMarket } from '../parts/market-state.ts'
import { readinessOf } from '../parts/readiness.tsx'
import type { OnChain } from '../parts/with-chain.tsx'

/** Often enough to see a block or a sale as it comes. */
const LOOK_MS = 3_000
const LIMIT = 100

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
  const known = useQuery({ ...merchantAtMarket(api, id), ...again, enabled: isOwned })
  const isKnown = Boolean(known.data)
  const chosen = useQuery({
    ...productOnChain(onChain, id, productId ?? '0x'),
    ...again,
    enabled: isOwned && productId !== undefined,
  })
  const open = useQuery({
    ...read(api, '/v1/product', { params: { query: { merchant_id: id, limit: LIMIT } } }),
    ...again,
    enabled: isKnown,
  })
  const isListed = chosen.data?.active === true
  const told = useQuery({
    ...productAtMarket(api, id, productId ?? '0x'),
    ...again,
    enabled: isListed && isKnown,
  })
  const endpoint = typedEndpoint ?? told.data?.endpoint_url
  const readiness = useQuery(readinessOf(api, isListed ? endpoint : undefined))
  const card = open.data?.products.find(({ product_id }) => product_id === productId)
  return {
    merchant: merchant.data,
    product: chosen.data,
    told: told.data,
    endpoint,
    productIds: (known.data?.merchant.product_ids ?? []) as Hex[],
    names: new Map(open.data?.products.map(({ product_id, name }) => [product_id, name])),
    error: merchant.error ?? known.error ?? chosen.error ?? told.error,
    isLoading: merchant.isLoading || known.isLoading || chosen.isLoading || told.isLoading,
    facts: {
      isOwned,
      isActive: merchant.data?.isActive === true,
      isKnown,
      isListed,
      isReady: readiness.data?.pass === true,
      isDescribed: Boolean(told.data?.name && told.data.endpoint_url),
      hasSale: (card?.sales_count ?? 0) > 0,
    },
  }
}
