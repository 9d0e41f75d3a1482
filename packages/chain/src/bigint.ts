// Math.min and Math.max do not take them.
export const smallest = (a: bigint, b: bigint) => (a < b ? a : b)
export const largest = (a: bigint, b: bigint) => (a > b ? a : b)
