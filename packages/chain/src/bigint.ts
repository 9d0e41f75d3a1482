// Math.min and Math.max do not take bigints.
export const smallest = (a: bigint, b: bigint) => (a < b ? a : b)
export const largest = (a: bigint, b: bigint) => (a > b ? a : b)
