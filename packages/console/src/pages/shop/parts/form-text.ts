// What merchants type, checked as the market and the chain will.
import { parsePercent, slugOf } from '@referrer/client/chain'
import { type Address, getAddress, isAddress, maxUint64, zeroAddress } from 'viem'
import { formatUsdc, parseUsdc } from '../../../format/usdc.ts'

/** A value, or what is wrong with what was typed. */
export type Typed<T> = { value: T; error?: undefined } | { value?: undefined; error: string }

const MOST_NAME = 200
const MOST_URL = 2_048

export function typedName(text: string): Typed<string> {
  const name = text.trim()
  if (name === '') return { error: 'Say what it is called.' }
  if (name.length > MOST_NAME) return { error: `At most ${MOST_NAME} characters.` }
  if (slugOf(name) === '') return { error: 'The name needs a letter or a digit.' }
  return { value: name }
}

/** The lowest price of a sale. A market settles nothing below its least amount. */
export function typedPrice(text: string, least: bigint): Typed<bigint> {
  const price = parseUsdc(text)
  if (price === undefined) return { error: 'USDC such as 0.05, with at most six digits after the point.' }
  if (price < least)
    return { error: `At least ${formatUsdc(least)} USDC: this market settles nothing smaller.` }
  if (price > maxUint64) return { error: 'That is more than the chain can record.' }
  return { value: price }
}

export function typedCommission(text: string): Typed<number> {
  const bps = parsePercent(text)
  return bps === undefined ? { error: 'A percentage from 0 to 100, such as 10 or 7.5.' } : { value: bps }
}

export function typedUrl(text: string): Typed<string> {
  const trimmed = text.trim()
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || trimmed.length > MOST_URL) {
    return { error: 'An address that begins with https:// or http://, without a password.' }
  }
  return { value: trimmed }
}

export function typedAddress(text: string): Typed<Address> {
  const trimmed = text.trim()
  if (!isAddress(trimmed, { strict: false }) || trimmed.toLowerCase() === zeroAddress) {
    return { error: 'An address: 0x and 40 digits and letters.' }
  }
  // A wrong digit in an address with capitals shows here: money sent to it would be lost.
  if (/[A-F]/.test(trimmed.slice(2)) && /[a-f]/.test(trimmed.slice(2)) && !isAddress(trimmed)) {
    return { error: 'One of its characters is wrong: copy it again.' }
  }
  return { value: getAddress(trimmed.toLowerCase()) }
}

/** What a sale at a price brings: the whole commission goes away only when the reviewer has the best rank. */
export function sharesOf(price: bigint, commissionBps: number): { commission: bigint; least: bigint } {
  const commission = (price * BigInt(commissionBps)) / 10_000n
  return { commission, least: price - commission }
}
