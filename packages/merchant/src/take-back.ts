import { type Address, type Hex, isAddress, isHex } from 'viem'

/** The call by which a payer takes back what reached the router and cannot be split, from this time (unix seconds) on. */
export interface TakeBack {
  to: Address
  data: Hex
  not_before?: number
}

/** It is sent on in a header. */
const MAX_CALL_CHARS = 4_096

/** As the facilitator tells it. */
export function takeBackOf(value: unknown): TakeBack | undefined {
  const { to, data, not_before } = Object(value) as Record<string, unknown>
  if (typeof to !== 'string' || !isAddress(to) || !isHex(data) || data.length > MAX_CALL_CHARS)
    return undefined
  return { to, data, ...(Number.isSafeInteger(not_before) && { not_before: not_before as number }) }
}

/** As buyers are told. */
export const takeBackFields = (call: TakeBack | undefined): object => (call ? { take_back: call } : {})
