// What a model is shown of a product: whoever writes much takes no more room for it.
import type { Entry } from './slate.ts'
import type { PublishedRow } from './store.ts'

/** Owners are cheap too. */
const EXCLUDED = 10
const OVERFLOW = 20

export interface Brief {
  entries: Entry[]
  /** How many of these there are beyond the entries. */
  moreExcluded: number
  moreOverflow: number
}

/** All that have a place on the slate; of the excluded the newest of each owner; of the overflow the best. */
export function briefOf(entries: readonly Entry[], rows: readonly PublishedRow[]): Brief {
  const rowOf = new Map(rows.map((row) => [row.internal_id, row]))
  const of = Map.groupBy(entries, ({ slot }) =>
    slot === 'excluded' || slot === 'overflow' ? slot : 'placed',
  )
  const [excluded, overflow] = [of.get('excluded') ?? [], of.get('overflow') ?? []]
  const publishedAt = ({ internalId }: Entry) => rowOf.get(internalId)?.published_at.getTime() ?? 0
  const newestFirst = excluded.toSorted(
    (a, b) => publishedAt(b) - publishedAt(a) || (a.internalId > b.internalId ? -1 : 1),
  )
  const ownerOf = ({ internalId }: Entry) => {
    const { owner, agent_id } = rowOf.get(internalId) ?? {}
    return owner?.toString('hex') ?? `agent ${agent_id}`
  }
  const newest = [...Map.groupBy(newestFirst, ownerOf).values()]
    .flatMap((ofOwner) => ofOwner.slice(0, 1))
    .slice(0, EXCLUDED)
  const best = overflow.slice(0, OVERFLOW)
  return {
    entries: [...(of.get('placed') ?? []), ...newest, ...best],
    moreExcluded: excluded.length - newest.length,
    moreOverflow: overflow.length - best.length,
  }
}
