// The call of a refusal that gives money in the split router back to its payer, checked before a wallet is asked to send it.
import { splitRouterAbi } from '@referrer/protocol/abi'
import { type Address, decodeFunctionData, type Hex, isAddressEqual, isHex } from 'viem'

/** As a facilitator tells it, or a shop after it. */
export interface TakeBackCall {
  to: string
  data: string
  /** Unix seconds; 0: now. */
  not_before: number
}

export function takeBackIn(answer: unknown): TakeBackCall | undefined {
  const { to, data, not_before = 0 } = Object(Object(answer).take_back) as Record<string, unknown>
  if (typeof to !== 'string' || !isHex(data) || !Number.isSafeInteger(not_before)) return undefined
  return { to, data, not_before: not_before as number }
}

/** What the wallet sends; undefined where it is anything else than the payer's own money at our router. */
export function contractCallOf(
  { to, data }: TakeBackCall,
  { router, payer }: { router: Address; payer: Address },
) {
  try {
    const { functionName, args } = decodeFunctionData({ abi: splitRouterAbi, data: data as Hex })
    const isTakeBack = functionName === 'takeBack' || functionName === 'takeBackDeposit'
    if (!isTakeBack || to.toLowerCase() !== router.toLowerCase()) return undefined
    const [paid] = args
    const from = 'from' in paid ? paid.from : paid.payer
    if (!isAddressEqual(from, payer)) return undefined
    return { call: { address: router, abi: splitRouterAbi, functionName, args }, amount: paid.value }
  } catch {
    return undefined
  }
}
