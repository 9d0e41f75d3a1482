/** How many products of each owner teach. */
export interface FairShare {
  /** Of one owner at most so many. */
  most: number
  /** All of it is thinned to this part, because there is more than is read. */
  kept: number
}

/** The part of all lessons that one owner may teach at most. The larger ones are for markets with few owners. */
const SHARES = [0.01, 0.1, 0.5] as const
/** So few products of an owner always teach. */
const FEW = 20
/** A larger share is allowed where it gives more than so many times as many lessons. */
const MUCH_MORE = 2

/**
 * The share of an owner, by the numbers of products of all owners: the smallest that leaves `enough` lessons and not
 * much fewer than the next. It depends on what the others have, so that somebody who floods the market with products
 * gains nothing. Where all of this is not enough, everybody teaches everything.
 */
export function fairShare(
  sizes: Iterable<number>,
  { enough, all }: { enough: number; all: number },
): FairShare {
  const numbers = [...sizes]
  const total = (most: number) => numbers.reduce((sum, size) => sum + Math.min(size, most), 0)
  const largest = numbers.reduce((a, b) => Math.max(a, b), 0)
  const tried = SHARES.map((share) => {
    const most = Math.max(
      FEW,
      largestWhere(largest, (candidate) => candidate <= share * total(candidate)),
    )
    return { most, lessons: total(most) }
  })
  const chosen = tried.find(
    ({ lessons }, at) => lessons >= enough && MUCH_MORE * lessons >= (tried[at + 1]?.lessons ?? 0),
  ) ?? { most: Math.max(FEW, largest), lessons: total(largest) }
  return { most: chosen.most, kept: chosen.lessons > all ? all / chosen.lessons : 1 }
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
