// Limits what a language model is shown of a product, so that authors of many reviews take no more room than others.
import type { Entry } from './slate.ts'
import type { PublishedRow } from './store.ts'

/** Limited, too, because anybody can create many owners. */
const EXCLUDED = 10
const OVERFLOW = 20

export interface Brief {
  entries: Entry[]
  /** How many excluded and overflow reviews are left out. */
  moreExcluded: number
  moreOverflow: number
}

/** Keeps all reviews in other slots, the newest excluded review of each owner, and the best of the overflow. */
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
