import { seedOf } from '@referrer/chain/testing'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type Explained, type ExplainedHit, keyOf, productScore } from '@referrer/search'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import type { Source } from '../source.ts'
import type { Chosen } from './choose.ts'
import { explainProducts, explainSlate } from './explain.ts'
import { type Candidate, slateOf } from './slate.ts'
import { type Answer, first, MODEL, productId, type SmallMarket, smallMarket, sourceOf } from './testing.ts'

const NOW = new Date('2026-06-15T12:00:00Z')
const DAY_MS = 86_400_000
const EXACT = 1e-12
const seed = seedOf()

const ago = (days: number) => new Date(NOW.getTime() - days * DAY_MS)
const unit = fc.double({ min: 0, max: 1, noNaN: true })
const reading = { words: [], fillers: [], beyond: [] }

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

describe('the parts of a review’s score', () => {
  const anyReviews = fc.uniqueArray(
    fc.record<Candidate>({
      internalId: fc.bigInt(1n, 60n),
      agentId: fc.bigInt(0n, 5n),
      rank: fc.option(unit),
      flagged: fc.boolean(),
      satisfaction: fc.option(fc.constantFrom(0, 0.25, 0.5, 0.75, 1)),
      publishedAt: fc.integer({ min: -2, max: 4_000 }).map(ago),
      isOwn: fc.boolean(),
      transferredAt: fc.option(fc.integer({ min: 0, max: 14 }).map(ago)),
      relevance: unit,
    }),
    { selector: ({ internalId }) => internalId, maxLength: 30 },
  )

  it('add up to it, each its weight times its value', () => {
    fc.assert(
      fc.property(anyReviews, fc.constantFrom('repeat' as const, 'one_off' as const), (reviews, type) => {
        const slate = slateOf(reviews, type, NOW)
        const explained = explainSlate(slate)
        expect(explained.size).toBe(reviews.length)
        for (const { internalId, score, authorRank, relevance: relevant } of slate.entries) {
          const { author_rank, relevance, freshness } = explained.get(internalId) ?? expect.fail()
          const parts = [author_rank, relevance, freshness]
          expect(parts.map(({ weight }) => weight)).toEqual([0.5, 0.35, 0.15])
          for (const { value, weight, contributes } of parts) expect(contributes).toBe(weight * value)
          const sum = parts.reduce((all, { contributes }) => all + contributes, 0)
          expect(Math.abs(sum - score)).toBeLessThan(EXACT)
          expect([author_rank.value, relevance.value]).toEqual([authorRank, relevant])
          expect(freshness.value).toBe(2 ** (-freshness.days / 180))
        }
      }),
      { seed },
    )
  })
})

describe('the parts of a product’s score', () => {
  const key = (at: number) => keyOf(1n, productId(at))
  const anyHit = fc.record({ words: unit, near: unit })
  const anyProduct = fc.record({ hit: fc.option(anyHit, { nil: undefined }), rank: unit })
  const anyOther = fc.record({ hit: fc.constant(undefined), rank: unit })
  const anyProducts = fc.oneof(
    fc.array(anyProduct, { maxLength: 20 }),
    fc.array(anyOther, { minLength: 1, maxLength: 20 }),
  )

  it('add up to it, and the match is that of words and vectors', () => {
    fc.assert(
      fc.property(anyProducts, unit, (products, share) => {
        const hits = products.flatMap(({ hit, rank }, at): ExplainedHit[] => {
          if (!hit) return []
          const intentMatch = (1 - share) * hit.words + share * hit.near
          return intentMatch > 0 ? [{ ...hit, key: key(at), intentMatch, rank }] : []
        })
        const byKey = new Map(hits.map((hit) => [hit.key, hit]))
        const chosen = products.map(({ rank }, at): Chosen => {
          const intentMatch = byKey.get(key(at))?.intentMatch ?? 0
          const score = hits.length === 0 ? rank : productScore(intentMatch, rank)
          return { key: key(at), row: { rank } as Chosen['row'], intentMatch, score }
        })
        const explained = explainProducts(chosen, { hits, share, reading })
        for (const { key, intentMatch, score, row } of chosen) {
          const { shown_because, intent_match, product_rank } = explained.get(key) ?? expect.fail()
          const { words, near, value, contributes } = intent_match
          expect(Math.abs(contributes + product_rank.contributes - score)).toBeLessThan(EXACT)
          expect(Math.abs((1 - share) * words + share * near - value)).toBeLessThan(EXACT)
          expect([value, product_rank.value]).toEqual([intentMatch, row.rank])
          expect([intent_match.weight, product_rank.weight]).toEqual(hits.length === 0 ? [0, 1] : [0.7, 0.3])
          expect(shown_because === 'matches').toBe(intentMatch > 0)
        }
      }),
      { seed },
    )
  })
})

describe('a slot', () => {
  const reasons = (...reviews: Candidate[]) => {
    const slate = slateOf(reviews, 'repeat', NOW)
    const explained = explainSlate(slate)
    return slate.entries.map(({ slot, internalId }) => [
      Number(internalId),
      slot,
      explained.get(internalId)?.slot_because,
    ])
  }

  it('is given for a reason', () => {
    expect(
      reasons(
        review(1, { rank: 0.9 }),
        review(2, { rank: 0.8 }),
        review(3, { rank: 0.7 }),
        review(4, { rank: null }),
        review(5, { rank: 0.95, satisfaction: 0 }),
        review(6, { isOwn: true, rank: 0.6 }),
        review(7, { transferredAt: ago(3) }),
        review(8, { rank: null, relevance: 0.01, flagged: true }),
      ),
    ).toEqual([
      [1, 'highlight', 'first of the rest'],
      [2, 'highlight', 'second of the rest'],
      [4, 'newcomer', 'best of the authors without a rank'],
      [5, 'dissent', 'best of the minority: reviews are mostly good'],
      [6, 'excluded', 'its author belongs, or belonged, to the owner of the shop'],
      [7, 'excluded', 'its author was sold within the last 7 days'],
      [3, 'overflow', 'third of the rest'],
      [8, 'overflow', 'fourth of the rest'],
    ])
  })

  it('of a dissent says which opinion is that of most', () => {
    const bad = [1, 2].map((id) => review(id, { satisfaction: 0 }))
    expect(reasons(...bad, review(3)).at(-1)).toEqual([
      3,
      'dissent',
      'best of the minority: reviews are mostly bad',
    ])
  })

  it('after the tenth is counted in figures', () => {
    const all = reasons(...Array.from({ length: 23 }, (_, at) => review(at + 1)))
    const places = all.map(([, , reason]) => `${reason}`.split(' ')[0])
    expect(places.slice(9)).toEqual(
      'tenth 11th 12th 13th 14th 15th 16th 17th 18th 19th 20th 21st 22nd 23rd'.split(' '),
    )
  })
})

describe('an answer', () => {
  let database: TestDatabase
  let chainId = 0
  let market: SmallMarket

  beforeAll(async () => {
    database = await freshDatabase(migrations)
  })
  afterAll(() => database.drop())
  /** Each test has a chain of its own. */
  beforeEach(async () => {
    chainId += 1
    market = smallMarket(database.sql, chainId)
    await market.agent(1, 1)
  })

  const because = ({ products }: Answer) =>
    products.map(({ explain }) => (explain as { shown_because: string }).shown_because)
  const vectors = (answer: Answer) => (answer as { explain?: { vectors: unknown } }).explain?.vectors
  const UNAVAILABLE: Source = {
    embedderId: undefined,
    find: async () => undefined,
    explain: async () => undefined,
  }
  const explaining = (explained: Partial<Explained>): Source => ({
    ...sourceOf([]),
    explain: async () => ({ hits: [], share: 0, reading, ...explained }),
  })
  const embed = async () => Int8Array.from([127, 0])

  it('says why products are in it that do not match', async () => {
    for (const number of [1, 2]) await market.product(number)
    const asked = { explain: true }
    expect(because(await market.ask({ source: sourceOf([[2, 0.9]]) }, asked))).toEqual([
      'matches',
      'filled_up_by_rank',
    ])
    expect(because(await market.ask({ source: sourceOf([]) }, asked))).toEqual(
      Array(2).fill('nothing_matched'),
    )
    expect(because(await market.ask({ source: sourceOf([]) }, { ...asked, intent: ' ' }))).toEqual(
      Array(2).fill('nothing_matched'),
    )
    const without = await market.ask({ source: UNAVAILABLE }, asked)
    expect(because(without)).toEqual(Array(2).fill('index_not_available'))
    expect(without).toMatchObject({ explain: { vectors: { because: 'index_not_available' } } })
    expect((without as { explain?: object }).explain).not.toHaveProperty('words')
  })

  it('says which model’s vectors were compared, or why none were', async () => {
    const ask = (source: Source, more = {}) =>
      market.ask({ source, ...more }, { explain: true }).then(vectors)
    expect(await ask(explaining({ share: 0.2 }), { embed })).toEqual({ model: MODEL, share: 0.2 })
    expect(await ask(explaining({}), { embed })).toEqual({
      model: MODEL,
      share: 0,
      because: 'not_comparable',
    })
    expect(await ask(explaining({}))).toEqual({ model: null, share: 0, because: 'no_vector' })
    expect(await ask({ ...explaining({}), embedderId: undefined })).toEqual({
      model: null,
      share: 0,
      because: 'no_model',
    })
  })

  it('for a model explains the reviews on the slate, and no others', async () => {
    const ids = [await market.review(), await market.review(), await market.review(), await market.review()]
    const own = await market.review({ agentId: 1 })
    await market.product(1, { reviews: [...ids, own] })
    const asked = { explain: true, includeAll: true }
    const explainedIn = (answer: Answer) =>
      first(answer).reviews?.map((entry) => [entry.slot, Object.hasOwn(entry, 'explain')])
    const slots = ['highlight', 'highlight', 'newcomer', 'excluded', 'overflow']
    expect(explainedIn(await market.ask({}, asked))).toEqual(slots.map((slot) => [slot, true]))
    expect(explainedIn(await market.ask({}, { ...asked, isBrief: true }))).toEqual(
      slots.map((slot, at) => [slot, at < 3]),
    )
  })
})
