import { parseUsdc } from '../../../format/usdc.ts'

export const CAP_WRONG = 'Enter an amount such as 12.50, with at most six decimals, or leave it empty.'

/** A cap that a person typed, in base units; null: no cap. Undefined: it is no amount. */
export function capOf(text: string): number | null | undefined {
  if (text.trim() === '') return null
  const amount = parseUsdc(text)
  return amount !== undefined && amount <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(amount) : undefined
}
