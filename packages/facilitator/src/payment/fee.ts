import { RpcError } from '@referrer/chain'
import { withTimeout } from '@referrer/process'
import { type Attribution, Money } from '@referrer/protocol'
import type { Chain, Context } from '../context.ts'
import { type Product, productOf, readProduct } from './product.ts'

/** Time-out for the product's terms, after which the fee counts as unknown. */
const PATIENCE_MS = 300

type Sale = { attribution: Attribution.Attribution; value: bigint }
type Rates = Pick<Attribution.Attribution, 'commissionMultiplierBps' | 'cashbackOfCommissionBps'>

/** How the router divides a price. The part of the reviewer's share that is held back makes no difference here. */
const splitOf = (
  { feeBps }: Pick<Chain, 'feeBps'>,
  { commissionBps }: Product,
  { commissionMultiplierBps: multiplierBps, cashbackOfCommissionBps }: Rates,
  price: bigint,
) => Money.split(price, { commissionBps, multiplierBps, feeBps, cashbackOfCommissionBps, heldBackBps: 0 })

/** The platform's fee of a purchase, as far as can be told: 0n where the product is not known. */
export async function expectedFee(
  context: Context,
  chain: Chain,
  { attribution, value }: Sale,
): Promise<bigint> {
  const { merchantId, productId } = attribution
  const asked = productOf(context)({ chain, merchantId, productId }).catch(() => undefined)
  const product = await withTimeout(PATIENCE_MS, asked)
  return product ? splitOf(chain, product, attribution, value).fee : 0n
}

/** The same by the terms of this moment, which its merchant may have changed since they were cached. Throws `RpcError`. */
export async function feeNow(chain: Chain, { attribution, value }: Sale): Promise<bigint> {
  const { merchantId, productId } = attribution
  const product = await readProduct({ chain, merchantId, productId }).catch((error) => {
    if (error instanceof RpcError) throw error
    return undefined
  })
  return product ? splitOf(chain, product, attribution, value).fee : 0n
}
