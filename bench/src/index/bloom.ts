import { type Hex, hexToBytes, keccak256 } from 'viem'

export type Bloom = Hex

/** The 2048-bit filter that a block's header carries: three bits for each address and topic of its logs. */
export function bloomOf(logs: readonly { address: Hex; topics: readonly Hex[] }[]): Bloom {
  const filter = Buffer.alloc(256)
  for (const { address, topics } of logs) {
    for (const value of [address, ...topics]) {
      for (const bit of bitsOf(value)) {
        const index = 255 - (bit >> 3)
        filter.writeUInt8(filter.readUInt8(index) | (1 << (bit & 7)), index)
      }
    }
  }
  return `0x${filter.toString('hex')}`
}

/** Addresses, selectors and ids come again and again. */
const known = new Map<Hex, readonly number[]>()

function bitsOf(value: Hex): readonly number[] {
  const bits = known.get(value)
  if (bits) return bits
  const hash = Buffer.from(keccak256(hexToBytes(value), 'bytes'))
  const drawn = [0, 2, 4].map((offset) => hash.readUInt16BE(offset) & 2047)
  known.set(value, drawn)
  return drawn
}
