import type { Fetched } from '@referrer/net'
import type { Chain } from '../../kit/context.ts'
import { fieldsOf, listOf } from '../../kit/loose-json.ts'
import { requiredIn } from '../../market/merchants/endpoint.ts'

const WHOLE = /^\d{1,16}$/

/** What an endpoint asks for, in base units: its first offer to be paid in USDC on this chain. Undefined: it makes none. */
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

/** One that an answer of ours can hold. */
function wholeOf(amount: unknown): bigint | undefined {
  // Of a list that holds lists that hold lists there is no text.
  if (typeof amount !== 'string' && typeof amount !== 'number') return undefined
  const text = String(amount)
  if (!WHOLE.test(text) || !Number.isSafeInteger(Number(text))) return undefined
  return BigInt(text)
}
