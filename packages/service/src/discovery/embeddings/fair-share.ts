/** How many products of each owner teach. */
export interface FairShare {
  /** Of one owner at most so many. */
  most: number
  /** All of it is thinned to this part, because there is more than is read. */
  kept: number
}

/** No owner teaches more than this part of all lessons. The next one is for a market with few owners. */
const SHARES = [0.1, 0.5, 1]
/** So few products of an owner always teach. */
const FEW = 20

/**
 * The share of an owner, by the numbers of products of all owners: the strictest that leaves `enough` lessons. It
 * depends on what the others have, so that somebody who floods the market with products gains nothing.
 */
export function fairShare(
  sizes: Iterable<number>,
  { enough, all }: { enough: number; all: number },
): FairShare {
  const numbers = [...sizes]
  const total = (most: number) => numbers.reduce((sum, size) => sum + Math.min(size, most), 0)
  const largest = numbers.reduce((a, b) => Math.max(a, b), 0)
  let most = 0
  let lessons = 0
  for (const share of SHARES) {
    most = Math.max(
      FEW,
      largestWhere(largest, (candidate) => candidate <= share * total(candidate)),
    )
    lessons = total(most)
    if (lessons >= enough) break
  }
  return { most, kept: lessons > all ? all / lessons : 1 }
}

/** The largest whole number up to `end` that passes; with a number all smaller ones pass. */
function largestWhere(end: number, passes: (candidate: number) => boolean): number {
  let low = 0
  let high = end
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (passes(middle)) low = middle
    else high = middle - 1
  }
  return low
}
