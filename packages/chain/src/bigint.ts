// Math.min and Math.max do not take them.
// biome-ignore lint/complexity/useMathMinMax: they are bigints
export const smallest = (a: bigint, b: bigint) => (a < b ? a : b)
// biome-ignore lint/complexity/useMathMinMax: they are bigints
export const largest = (a: bigint, b: bigint) => (a > b ? a : b)
