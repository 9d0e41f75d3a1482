import { type Hex, hexToBytes, keccak256 } from 'viem'
import type { LogFilter } from './types.ts'

const BLOOM_BITS = 2_048

/** Whether a block may have logs that match, by its bloom filter. False is certain, true is not. */
export function bloomMatcher({ addresses, events }: LogFilter): (bloom: Hex) => boolean {
  const addressBits = addresses.map(bitsOf)
  const eventBits = events.map(bitsOf)
  return (bloom) => {
    const bytes = hexToBytes(bloom)
    const has = (bits: number[]) => bits.every((bit) => ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1)
    return addressBits.some(has) && eventBits.some(has)
  }
}

/** Three bits, each from two bytes of the hash; bit 0 is the last of the filter. */
function bitsOf(value: Hex): number[] {
  const hash = keccak256(value, 'bytes')
  return [0, 2, 4].map((at) => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) % BLOOM_BITS
    return BLOOM_BITS - 1 - bit
  })
}
