// Formats of values in JSON answers.
import type { Recovery } from '@referrer/protocol'
import type { Address, Hex } from 'viem'

declare global {
  interface JSON {
    /** Node 22 and newer have this function, but TypeScript's types do not. */
    rawJSON(text: string): unknown
  }
}

/** Writes a bigint as an exact JSON number of any size. */
export function whole(value: bigint): number {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : (JSON.rawJSON(String(value)) as number)
}

/** A time as RFC 3339 in UTC, with a fraction only when it is not zero. */
export const time = (date: Date): string => date.toISOString().replace('.000Z', 'Z')

/** A time as RFC 3339 in UTC, cut to whole seconds. */
export const timeInSeconds = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`

export const hex = (bytes: Buffer): Hex => `0x${bytes.toString('hex')}`

const LETTER = /[a-f]/

/** An address with the EIP-55 checksum. It uses the service's fast keccak256, because lists show hundreds of addresses. */
export function address({ keccak256 }: Recovery.Recovery, bytes: Buffer): Address {
  const digits = bytes.toString('hex')
  const hash = keccak256(Buffer.from(digits, 'latin1'))
  let text = '0x'
  for (let at = 0; at < 40; at += 1) {
    const digit = digits[at] as string
    const nibble = ((hash[at >> 1] as number) >> (at % 2 ? 0 : 4)) & 15
    text += nibble >= 8 && LETTER.test(digit) ? digit.toUpperCase() : digit
  }
  return text as Address
}
