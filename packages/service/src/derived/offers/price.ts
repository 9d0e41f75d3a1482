import type { Fetched } from '@referrer/net'
import type { Chain } from '../../kit/context.ts'
import { type Fields, fieldsOf, listOf } from '../../kit/loose-json.ts'
import { requiredIn } from '../../market/merchants/endpoint.ts'

/** What an endpoint offers for payment in USDC on a chain. */
export interface Offered {
  /** In base units. */
  price: bigint
  /** The payment option that has the price, not validated. */
  option: Fields
  /** The whole 402, not validated. */
  required: Fields
}

const WHOLE = /^\d{1,16}$/

/** The first offer of an endpoint that is payable in USDC on this chain. Undefined: it makes no such offer. */
export function offerIn(answer: Fetched, { config }: Pick<Chain, 'config'>): Offered | undefined {
  if (answer.status !== 402) return undefined
  const { chainId, contracts } = config
  const usdc = contracts.USDC.toLowerCase()
  const required = requiredIn(answer)
  for (const given of listOf(required.accepts)) {
    const option = fieldsOf(given)
    const { scheme, network, asset, amount, maxAmountRequired } = option
    if (scheme !== 'exact' || network !== `eip155:${chainId}`) continue
    if (typeof asset !== 'string' || asset.toLowerCase() !== usdc) continue
    const price = wholeOf(amount ?? maxAmountRequired)
    if (price !== undefined) return { price, option, required }
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
