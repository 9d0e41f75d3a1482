import type { Fetched } from '@referrer/net'
import type { Chain } from '../../kit/context.ts'
import { fieldsOf, listOf } from '../../kit/loose-json.ts'
import { requiredIn } from '../../market/merchants/endpoint.ts'

const WHOLE = /^\d{1,16}$/

/**
 * The price that an endpoint asks, in base units: that of its first offer payable in USDC on this chain. Undefined:
 * it makes no such offer.
 */
export function priceIn(answer: Fetched, { config }: Pick<Chain, 'config'>) {
  if (answer.status !== 402) return undefined
  const { chainId, contracts } = config
  const usdc = contracts.USDC.toLowerCase()
  for (const option of listOf(requiredIn(answer).accepts)) {
    const { scheme, network, asset, amount, maxAmountRequired } = fieldsOf(option)
    if (scheme !== 'exact' || network !== `eip155:${chainId}`) continue
    if (typeof asset !== 'string' || asset.toLowerCase() !== usdc) continue
    const price = wholeOf(amount ?? maxAmountRequired)
    if (price !== undefined) return price
  }
  return undefined
}

/** A whole amount that fits into a JSON number of our answers. */
function wholeOf(amount: unknown): bigint | undefined {
  // String() of a deeply nested list overflows the stack.
  if (typeof amount !== 'string' && typeof amount !== 'number') return undefined
  const text = String(amount)
  if (!WHOLE.test(text) || !Number.isSafeInteger(Number(text))) return undefined
  return BigInt(text)
}
