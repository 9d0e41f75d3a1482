import { seedOf } from '@referrer/chain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Candidate, type Slot, slateOf } from './slate.ts'

const NOW = new Date('2026-06-15T12:00:00Z')
const DAY_MS = 86_400_000
const ago = (ms: number) => new Date(NOW.getTime() - ms)
const seed = seedOf()

/** A review of today by an author with a rank. */
const review = (internalId: number, said: Partial<Candidate> = {}): Candidate => ({
  internalId: BigInt(internalId),
  agentId: BigInt(internalId),
  rank: 0.5,
  flagged: false,
  satisfaction: 1,
  publishedAt: NOW,
  isOwn: false,
  transferredAt: null,
  relevance: 0,
  ...said,
})

const slate = (...reviews: Candidate[]) => slateOf(reviews, 'repeat', NOW)
/** Slot and id of each review (`highlight 1`), in display order. */
const placesOf = (...reviews: Candidate[]) =>
  slate(...reviews).entries.map(({ slot, internalId }) => `${slot} ${internalId}`)
const scoreOf = (one: Candidate, type: 'repeat' | 'one_off' = 'repeat') =>
  slateOf([one], type, NOW).entries[0]

describe('the score of a review', () => {
  it('is half the rank of its author, 0.35 of how much it is to the point, and 0.15 of how new it is', () => {
    const entry = scoreOf(review(1, { rank: 0.8, relevance: 0.6, publishedAt: ago(180 * DAY_MS) }))
    expect(entry).toMatchObject({ authorRank: 0.8, relevance: 0.6 })
    expect(entry?.score).toBeCloseTo(0.5 * 0.8 + 0.35 * 0.6 + 0.15 * 0.5, 12)
  })

  it('halves its newness every 180 days, by whole days of UTC', () => {
    const freshness = (publishedAt: Date) => (scoreOf(review(1, { rank: 0, publishedAt }))?.score ?? 0) / 0.15
    expect(freshness(new Date('2026-06-15T00:00:00Z'))).toBe(1)
    expect(freshness(new Date('2026-06-14T23:59:59.999Z'))).toBeCloseTo(2 ** (-1 / 180), 12)
    expect(freshness(ago(360 * DAY_MS))).toBeCloseTo(0.25, 12)
  })

  it('takes a review from the future for one of today', () => {
    expect(scoreOf(review(1, { rank: 0, publishedAt: ago(-9 * DAY_MS) }))?.score).toBe(0.15)
  })

  it.each([
    ['repeat', 0.5],
    ['one_off', 0.417],
  ] as const)('begins for an author without a rank where ranks of %s products begin', (type, rank) => {
    expect(scoreOf(review(1, { rank: null }), type)?.authorRank).toBe(rank)
  })

  it('counts the author for nothing when it is flagged, whatever its rank', () => {
    expect(scoreOf(review(1, { rank: 0.9, flagged: true }))?.authorRank).toBe(0)
    expect(scoreOf(review(1, { rank: null, flagged: true }))?.authorRank).toBe(0)
  })
})

describe('a slate', () => {
  it('has two highlights, a newcomer and a dissent, in this order, then the overflow', () => {
    const places = placesOf(
      review(1, { rank: 0.9 }),
      review(2, { rank: 0.8 }),
      review(3, { rank: 0.7 }),
      review(4, { rank: null }),
      review(5, { rank: 0.2, satisfaction: 0 }),
    )
    expect(places).toEqual(['highlight 1', 'highlight 2', 'newcomer 4', 'dissent 5', 'overflow 3'])
  })

  it('of nothing is empty', () => {
    expect(slate()).toEqual({ entries: [], side: 0, meanAuthorRank: undefined })
  })

  it('tells why a review is not among the first, and nothing of the others', () => {
    const own = [3, 4, 5].map((id) => review(id, { rank: 0.9 - id / 10 }))
    const { entries } = slate(review(1, { isOwn: true }), review(2, { rank: null }), ...own)
    expect(entries.map(({ slot, reason }) => [slot, reason])).toEqual([
      ['highlight', undefined],
      ['highlight', undefined],
      ['newcomer', undefined],
      ['excluded', 'self_review'],
      ['overflow', 'below ranking threshold'],
    ])
  })

  it('goes by the id of the record where scores are equal', () => {
    const places = placesOf(review(30), review(4), review(200), review(11))
    expect(places).toEqual(['highlight 4', 'highlight 11', 'overflow 30', 'overflow 200'])
  })
})

describe('the newcomer', () => {
  it('is the best of the authors without a rank; the others of them may be highlights', () => {
    const [fresh, old, oldest] = [0, 100, 200].map((days) => ({
      rank: null,
      publishedAt: ago(days * DAY_MS),
    }))
    expect(placesOf(review(1, oldest), review(2, fresh), review(3, old))).toEqual([
      'highlight 3',
      'highlight 1',
      'newcomer 2',
    ])
  })

  it('is nobody who is flagged', () => {
    expect(placesOf(review(1, { rank: null, flagged: true }))).toEqual(['highlight 1'])
  })

  it('has its place before the dissent is looked for', () => {
    const places = placesOf(
      review(1),
      review(2),
      review(3, { rank: null, satisfaction: 0 }),
      review(4, { rank: 0.1, satisfaction: 0.25 }),
    )
    expect(places).toEqual(['highlight 1', 'highlight 2', 'newcomer 3', 'dissent 4'])
  })
})

describe('the dissent', () => {
  const satisfied = (...satisfactions: (number | null)[]) =>
    placesOf(
      ...satisfactions.map((satisfaction, at) => review(at + 1, { satisfaction, rank: 0.9 - at / 10 })),
    )

  it('is the best review on the other side of one half than the mean', () => {
    expect(satisfied(1, 1, 0.25, 0)).toEqual(['highlight 1', 'highlight 2', 'dissent 3', 'overflow 4'])
    expect(satisfied(0, 0, 0, 0.75, 1)).toEqual([
      'highlight 1',
      'highlight 2',
      'dissent 4',
      'overflow 3',
      'overflow 5',
    ])
  })

  it('is nobody when all are on one side, or the mean is one half', () => {
    expect(satisfied(1, 0.75)).toEqual(['highlight 1', 'highlight 2'])
    expect(satisfied(1, 0)).toEqual(['highlight 1', 'highlight 2'])
    expect(satisfied(0.5, 0.5)).toEqual(['highlight 1', 'highlight 2'])
  })

  it('is no review that is in the middle, or does not say', () => {
    expect(satisfied(1, 1, 0.5, null)).toEqual(['highlight 1', 'highlight 2', 'overflow 3', 'overflow 4'])
  })

  it('goes by the mean of those who are heard, the newcomer among them', () => {
    const against = review(1, { satisfaction: 0 })
    const shill = (id: number) => review(id, { isOwn: true })
    expect(placesOf(against, review(2, { satisfaction: 0 }), shill(3), shill(4), shill(5))).toEqual([
      'highlight 1',
      'highlight 2',
      'excluded 3',
      'excluded 4',
      'excluded 5',
    ])
    expect(placesOf(against, review(2, { rank: null, satisfaction: 1 }))).toEqual([
      'highlight 1',
      'newcomer 2',
    ])
  })
})

describe('an excluded review', () => {
  it('is one of the merchant’s own people, or one whose author changed hands within seven days', () => {
    const { entries } = slate(
      review(1, { transferredAt: ago(7 * DAY_MS - 1) }),
      review(2, { transferredAt: ago(7 * DAY_MS) }),
      review(3, { isOwn: true, transferredAt: NOW }),
      review(4, { transferredAt: ago(-1) }),
    )
    expect(entries.map(({ internalId, slot, reason }) => [Number(internalId), slot, reason])).toEqual([
      [2, 'highlight', undefined],
      [1, 'excluded', 'transfer_cooldown'],
      [3, 'excluded', 'self_review'],
      [4, 'excluded', 'transfer_cooldown'],
    ])
  })

  it('is shown however many there are, best first', () => {
    const many = Array.from({ length: 50 }, (_, at) => review(at, { isOwn: true, rank: at / 50 }))
    expect(slate(...many).entries.map(({ internalId }) => Number(internalId))).toEqual(
      many.map((_, at) => 49 - at),
    )
  })
})

describe('the mean rank of authors', () => {
  it('counts each author once, flagged ones as 0, and leaves out who has no rank', () => {
    const { meanAuthorRank } = slate(
      review(1, { agentId: 7n, rank: 0.9 }),
      review(2, { agentId: 7n, rank: 0.9 }),
      review(3, { agentId: 8n, rank: 0.6, flagged: true }),
      review(4, { agentId: 9n, rank: null }),
    )
    expect(meanAuthorRank).toBe(0.45)
  })

  it('is of nobody when no author has a rank, or only excluded ones', () => {
    expect(slate(review(1, { rank: null }), review(2, { isOwn: true })).meanAuthorRank).toBeUndefined()
  })
})

const anyReviews = fc.uniqueArray(
  fc.record<Candidate>({
    internalId: fc.bigInt(1n, 60n),
    agentId: fc.bigInt(0n, 5n),
    rank: fc.option(fc.constantFrom(0, 0.25, 0.5, 1)),
    flagged: fc.boolean(),
    satisfaction: fc.option(fc.constantFrom(0, 0.25, 0.5, 0.75, 1)),
    publishedAt: fc.integer({ min: 0, max: 400 }).map((days) => ago(days * DAY_MS)),
    isOwn: fc.boolean(),
    transferredAt: fc.option(fc.integer({ min: 0, max: 14 }).map((days) => ago(days * DAY_MS))),
    relevance: fc.constantFrom(0, 0.5, 1),
  }),
  { selector: ({ internalId }) => internalId, maxLength: 30 },
)

const MOST: Partial<Record<Slot, number>> = { highlight: 2, newcomer: 1, dissent: 1 }
const ORDER: Slot[] = ['highlight', 'newcomer', 'dissent', 'excluded', 'overflow']

describe('any slate', () => {
  it('shows each review once, slots in their order and no fuller than they may be, best first in each', () => {
    fc.assert(
      fc.property(anyReviews, (reviews) => {
        const { entries } = slate(...reviews)
        expect(entries.map(({ internalId }) => internalId).sort()).toEqual(
          reviews.map(({ internalId }) => internalId).sort(),
        )
        const bySlot = Map.groupBy(entries, ({ slot }) => slot)
        expect([...bySlot.keys()]).toEqual(ORDER.filter((slot) => bySlot.has(slot)))
        for (const [slot, own] of bySlot) {
          expect(own.length).toBeLessThanOrEqual(MOST[slot] ?? Number.POSITIVE_INFINITY)
          const best = own.toSorted((a, b) => b.score - a.score || Number(a.internalId - b.internalId))
          expect(own).toEqual(best)
        }
        if (bySlot.has('overflow')) expect(bySlot.get('highlight')).toHaveLength(2)
      }),
      { seed },
    )
  })

  it('is the same in whatever order the reviews come', () => {
    fc.assert(
      fc.property(anyReviews, (reviews) => {
        expect(slate(...reviews.toReversed())).toEqual(slate(...reviews))
      }),
      { seed },
    )
  })
})
