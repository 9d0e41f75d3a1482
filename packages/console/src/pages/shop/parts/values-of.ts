import { formatUnits, type Hex } from 'viem'
import type { ShopValues } from './snippets.ts'
import type { OnChain } from './with-chain.tsx'

const USDC_DECIMALS = 6

/** What the code of a product's endpoint is filled with. */
export const valuesOf = (
  { deployment }: OnChain,
  product: { merchantId: number; productId: Hex; name: string; price: bigint },
): ShopValues => ({
  chainId: deployment.chainId,
  marketUrl: deployment.marketUrl,
  addressRegistry: deployment.contracts.AddressRegistry,
  facilitatorUrl: deployment.facilitatorUrl,
  merchantId: product.merchantId,
  productId: product.productId,
  name: product.name,
  price: formatUnits(product.price, USDC_DECIMALS),
})
