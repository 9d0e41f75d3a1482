// `explain=true`: how a question was read, and what scores and slots come from. Nothing is embedded here: see
// discover-meaning.test.ts for vectors.
import { type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { type CheckedCaller, connectChecked } from '../mcp/checked.ts'
import type { Answer } from './caller.ts'
import { DAY } from './chain.ts'
import {
  ask,
  findsFirst,
  found,
  foundWhere,
  searchable,
  sellAll,
  setRanks,
  startFinding,
  writeAll,
} from './discover-market.ts'
import type { TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { beginDay, newcomer, type Person, type Review } from './town.ts'

type Part = { value: number; weight: number; contributes: number }

let m: TestMarket
let mcp: CheckedCaller
let weather: Product
let written: Review[]

/** As many reviews as `weather` has. */
const RATINGS = [5, 5, 5, 4, 1, 5, 5]
const RANKS = [0.9, 0.8, 0.7, null, 0.95, null, null]
const OWN = 6
const DAY_MS = 1_000 * DAY

beforeAll(async () => {
  m = await startFinding()
  beginDay(m)
  await registerIdentity(m.market, m.market.accounts.stranger)
  const merchantId = await openRecorded(m)
  ;[weather] = (await sellAll(m, merchantId, [
    { name: 'Weather forecast', description: 'Rain and wind for any city', category: 'data' },
    { name: 'Weather archive', category: 'data' },
    { name: 'Bread recipes', category: 'food' },
  ])) as [Product]
  const people: Person[] = []
  for (let count = 0; count < OWN; count += 1) people.push(await newcomer(m))
  const { merchant } = m.market.accounts
  people.push({ owner: merchant, agentId: await registerIdentity(m.market, merchant) })
  written = await writeAll(
    m,
    weather,
    RATINGS.map((rating, at) => [people[at] as Person, rating, 'Right to the minute'] as const),
  )
  await foundWhere(m, 'intent=forecast', ({ products: [first] }) => first?.review_count === RATINGS.length)
  await setRanks(
    m,
    RANKS.map((rank, at) => [people[at] as Person, rank] as const),
  )
  await searchable(m)
  await findsFirst(m, 'intent=archive&max_products=1', { ...weather, productId: await idOf('archive') })
  await found(m, 'intent=bread')
  mcp = await connectChecked(m)
})
afterAll(async () => {
  await mcp?.close()
  await m.close()
})

const idOf = async (intent: string) =>
  (await found(m, `intent=${intent}&max_products=1`)).body.products[0].product_id

/** An explained answer of the index: it can be too slow on a busy machine. */
const explained = (query: string) => foundWhere(m, `${query}&explain=true`, ({ explain }) => explain?.words)

/** The answer without what explains it, as text. */
const withoutExplanations = ({ body }: Answer) =>
  JSON.stringify(body, (name, value) => (name === 'explain' ? undefined : value))

const sumOf = (parts: Part[]) => parts.reduce((sum, { contributes }) => sum + contributes, 0)

describe('an answer', () => {
  const QUERY = 'intent=a+weather+forecast&include_all=true&max_products=20'

  it.each(['1', 'True', 'TRUE', 'false', '', 'yes', 'true%20', 'true&explain=true'])(
    'is the same, byte by byte, with explain=%s as without',
    async (value) => {
      const { text } = await found(m, QUERY)
      expect(text).not.toContain('"explain"')
      expect((await found(m, `${QUERY}&explain=${value}`)).text).toBe(text)
    },
  )

  it('is the same, byte by byte, beside its explanations', async () => {
    const answer = await found(m, `${QUERY}&explain=true`)
    expect(answer.text).toContain('"explain"')
    expect(withoutExplanations(answer)).toBe((await found(m, QUERY)).text)
  })

  it('has parts that add up to the scores it shows', async () => {
    const { body } = await found(m, `${QUERY}&explain=true`)
    expect(body.products).toHaveLength(3)
    for (const { product_score, sub_scores, explain } of body.products) {
      const { intent_match, product_rank } = explain
      expect(Math.abs(sumOf([intent_match, product_rank]) - product_score)).toBeLessThan(1e-12)
      expect([intent_match.value, product_rank.value]).toEqual(Object.values(sub_scores))
      expect([intent_match.weight, product_rank.weight]).toEqual([0.7, 0.3])
      const { words, near, share } = intent_match
      expect([(1 - share) * words + share * near, share]).toEqual([intent_match.value, 0])
    }
    const { reviews } = body.products[0]
    expect(reviews).toHaveLength(RATINGS.length)
    const today = Math.floor((Date.now() + m.clock.aheadMs) / DAY_MS)
    for (const { score, author_rank, relevance, published_at, explain } of reviews) {
      const parts = [explain.author_rank, explain.relevance, explain.freshness]
      expect(Math.abs(sumOf(parts) - score)).toBeLessThan(1e-12)
      expect(parts.map(({ weight }) => weight)).toEqual([0.5, 0.35, 0.15])
      const days = today - Math.floor(Date.parse(published_at) / DAY_MS)
      expect(explain.freshness.days).toBe(days)
      expect(parts.map(({ value }) => value)).toEqual([author_rank, relevance, 2 ** (-days / 180)])
    }
  })

  it('says why each review has its slot', async () => {
    const { body } = await found(m, `${QUERY}&explain=true`)
    const told = body.products[0].reviews.map(({ slot, internal_id, explain }: Answer['body']) => [
      written.findIndex(({ internalId }) => internalId === internal_id),
      slot,
      explain.slot_because,
      explain.author_rank.from,
    ])
    expect(told).toEqual([
      [0, 'highlight', 'first of the rest', 'rank'],
      [1, 'highlight', 'second of the rest', 'rank'],
      [3, 'newcomer', 'best of the authors without a rank', 'base_rate'],
      [4, 'dissent', 'best of the minority: reviews are mostly good', 'rank'],
      [6, 'excluded', 'its author belongs, or belonged, to the owner of the shop', 'base_rate'],
      [2, 'overflow', 'third of the rest', 'rank'],
      [5, 'overflow', 'fourth of the rest', 'base_rate'],
    ])
  })

  it('says why products are in it that do not match', async () => {
    const reasons = async (query: string) =>
      (await explained(query)).body.products.map(
        ({ explain }: { explain: { shown_because: string } }) => explain.shown_because,
      )
    expect(await reasons('intent=forecast')).toEqual(['matches', 'filled_up_by_rank', 'filled_up_by_rank'])
    expect(await reasons('intent=zxqj')).toEqual(Array(3).fill('nothing_matched'))
    expect(await reasons('intent=%20')).toEqual(Array(3).fill('nothing_matched'))
  })

  it('by rank alone has the rank for its only part', async () => {
    const { body } = await explained('intent=zxqj&max_products=1')
    const [{ product_score, explain }] = body.products
    expect(explain).toEqual({
      shown_because: 'nothing_matched',
      intent_match: { words: 0, near: 0, share: 0, value: 0, weight: 0, contributes: 0 },
      product_rank: { value: product_score, weight: 1, contributes: product_score },
    })
  })
})

describe('a question', () => {
  const readingOf = async (intent: string) =>
    (await explained(`intent=${encodeURIComponent(intent)}`)).body.explain

  it('is told word by word: as written, misspelt, joined, split, only in reviews, used by nobody', async () => {
    const { words, fillers, vectors } = await readingOf(
      'I need a wether fore cast, breadrecipes, by the minute, zeppelin archive',
    )
    expect(
      words.map(({ word, read_as }: Answer['body']) => [
        word,
        ...read_as.map(({ how, meant, likeness }: Answer['body']) => `${how} ${meant} ${likeness}`),
      ]),
    ).toEqual([
      ['wether', 'misspelt weather 0.8'],
      ['fore', 'joined forecast 0.8'],
      ['cast', 'joined forecast 0.8'],
      ['breadrecipes', 'split bread recipes 0.8'],
      ['minute', 'only_in_reviews minute 1'],
      ['zeppelin'],
      ['archive', 'as_written archive 1'],
    ])
    for (const { weight } of words) expect(weight).toBeGreaterThan(0)
    expect(fillers).toEqual(['i', 'need', 'a', 'by', 'the'])
    expect(vectors).toEqual({ model: null, share: 0, because: 'no_model' })
  })

  it('has the words after the 32nd beside it', async () => {
    const many = Array.from({ length: 34 }, (_, at) => `word${at}`)
    const { words, beyond } = await readingOf(many.join(' '))
    expect([words.length, beyond]).toEqual([32, ['word32', 'word33']])
  })

  it('of white space has no words', async () => {
    expect((await ask(m, 'intent=%20&explain=true')).body.explain).toEqual({
      words: [],
      fillers: [],
      vectors: { model: null, share: 0, because: 'no_vector' },
    })
  })

  it('about a category that nothing can have is not read', async () => {
    const { body } = await ask(m, 'intent=forecast&category=%00&explain=true')
    expect(body).toEqual({ products: [], coverage: 'thin' })
  })
})

describe('the tool', () => {
  /** The answer of the index. */
  const told = (more: Record<string, unknown>) =>
    until(async () => {
      // The tool allows five calls a second.
      m.clock.aheadMs += 200
      const answer = await mcp.call('discover_products', {
        intent: 'a wether forecast',
        include_all: true,
        ...more,
      })
      return answer.structured.products[0].sub_scores.intent_match > 0 ? answer : undefined
    }, 'an answer of the tool')

  it('explains nothing unless it is asked to', async () => {
    const { text } = await told({})
    expect(text).not.toContain('"explain"')
    expect((await told({ explain: false })).text).toBe(text)
  })

  it('explains products, question and the reviews on the slate as the route does', async () => {
    const routed = await found(m, 'intent=a+wether+forecast&include_all=true&explain=true')
    const { structured } = await told({ explain: true })
    expect(structured.explain).toEqual(routed.body.explain)
    const [product] = structured.products
    expect(product.explain).toEqual(routed.body.products[0].explain)
    expect(product.reviews).toHaveLength(RATINGS.length)
    for (const [at, { slot, explain }] of product.reviews.entries()) {
      const isOnSlate = slot !== 'excluded' && slot !== 'overflow'
      expect(explain).toEqual(isOnSlate ? routed.body.products[0].reviews[at].explain : undefined)
    }
  })

  it('stays small', async () => {
    const size = async (explain: boolean) => Buffer.byteLength((await told({ explain })).text)
    // The question, three products and four reviews.
    expect((await size(true)) - (await size(false))).toBeLessThan(2_600)
  })
})
