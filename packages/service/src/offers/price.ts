import type { Fetched } from '@referrer/net'
import { ProtocolError, X402 } from '@referrer/protocol'
import type { Chain } from '../context.ts'
import { fieldsOf, jsonOf, listOf } from '../loose-json.ts'

const WHOLE = /^\d{1,16}$/

/** What an endpoint asks for, in base units: its first offer to be paid in USDC on this chain. Undefined: it makes none. */
export function priceIn({ status, headers, body }: Fetched, { config }: Pick<Chain, 'config'>) {
  if (status !== 402) return undefined
  const { chainId, contracts } = config
  const usdc = contracts.USDC.toLowerCase()
  const asked = [inHeader(headers[X402.PAYMENT_REQUIRED_HEADER.toLowerCase()]), jsonOf(body)]
  for (const option of asked.flatMap((required) => listOf(fieldsOf(required).accepts))) {
    const { scheme, network, asset, amount, maxAmountRequired } = fieldsOf(option)
    if (scheme !== 'exact' || network !== `eip155:${chainId}`) continue
    if (typeof asset !== 'string' || asset.toLowerCase() !== usdc) continue
    const price = wholeOf(amount ?? maxAmountRequired)
    if (price !== undefined) return price
  }
  return undefined
}

function inHeader(header: unknown): unknown {
  try {
    return X402.decodeHeader(header)
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}

/** One that an answer of ours can hold. */
function wholeOf(amount: unknown): bigint | undefined {
  // Of a list that holds lists that hold lists there is no text.
  if (typeof amount !== 'string' && typeof amount !== 'number') return undefined
  const text = String(amount)
  if (!WHOLE.test(text) || !Number.isSafeInteger(Number(text))) return undefined
  return BigInt(text)
}
