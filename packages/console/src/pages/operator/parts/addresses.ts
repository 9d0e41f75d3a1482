const ADDRESS = /^https?:\/\//i
const MOST_ADDRESSES = 5
const MOST_DEPTH = 6

/** Web addresses among the texts of some data, at most five. */
export function addressesIn(data: unknown, depth = 0): string[] {
  if (typeof data === 'string') return ADDRESS.test(data) && URL.canParse(data) ? [data] : []
  if (typeof data !== 'object' || data === null || depth > MOST_DEPTH) return []
  const found = Object.values(data)
    .slice(0, 200)
    .flatMap((value) => addressesIn(value, depth + 1))
  return [...new Set(found)].slice(0, MOST_ADDRESSES)
}
