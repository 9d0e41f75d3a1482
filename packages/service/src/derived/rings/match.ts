// Which of the rings that are known was found again.

export interface Known {
  ringId: bigint
  members: number
  isDismissed: boolean
  /** How many members it had when it was dismissed; null: it never was. */
  membersThen: number | null
}

/** A found ring and a known one have members in common. */
export interface Shared {
  found: number
  ringId: bigint
  members: number
}

/**
 * `ringId` null: a new ring. `isDismissed`: it stays so. A part of a dismissed ring is no new ring: it is left out.
 */
export type Match = { ringId: bigint | null; isDismissed: boolean } | 'left out'

/** A dismissed ring is open again when it has grown by half. */
const hasGrown = (members: number, then: number): boolean => 2 * members >= 3 * then

/**
 * A found ring is the known one with which it shares the most members, if these are more than half of the smaller
 * one. Each known ring is found once: by the first of `sizes`, which begin with the largest.
 */
export function matchRings(
  sizes: readonly number[],
  known: readonly Known[],
  shared: readonly Shared[],
): Match[] {
  const byId = new Map(known.map((ring) => [ring.ringId, ring]))
  const byFound = Map.groupBy(shared, ({ found }) => found)
  const taken = new Set<bigint>()
  return sizes.map((size, found) => {
    const best = byFound
      .get(found)
      ?.sort((a, b) => b.members - a.members || (a.ringId < b.ringId ? -1 : 1))
      .find(({ ringId, members }) => 2 * members > Math.min(size, byId.get(ringId)?.members ?? 0))
    const ring = best && byId.get(best.ringId)
    if (!ring) return { ringId: null, isDismissed: false }
    if (taken.has(ring.ringId)) return ring.isDismissed ? 'left out' : { ringId: null, isDismissed: false }
    taken.add(ring.ringId)
    return {
      ringId: ring.ringId,
      isDismissed: ring.isDismissed && !hasGrown(size, ring.membersThen ?? ring.members),
    }
  })
}
