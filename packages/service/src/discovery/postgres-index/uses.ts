// The forward index: what each term is worth in a product. The numbers of the terms, ascending, in four bytes each,
// then the worths, from 1 to 255, in one byte each.

const NUMBER = 4
const ENTRY = NUMBER + 1

export function packUses(worths: readonly (readonly [term: number, worth: number])[]): Buffer {
  const sorted = worths.toSorted(([a], [b]) => a - b)
  const uses = Buffer.alloc(ENTRY * sorted.length)
  sorted.forEach(([term, worth], index) => {
    uses.writeUInt32LE(term, NUMBER * index)
    uses.writeUInt8(worth, NUMBER * sorted.length + index)
  })
  return uses
}

/** From 0 to 1. */
export function worthIn(uses: Buffer, term: number): number {
  const count = uses.length / ENTRY
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (uses.readUInt32LE(NUMBER * middle) < term) low = middle + 1
    else high = middle
  }
  if (low === count || uses.readUInt32LE(NUMBER * low) !== term) return 0
  return uses.readUInt8(NUMBER * count + low) / 255
}
