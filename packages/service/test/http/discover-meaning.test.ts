// Discovery with the word vectors that come with the service.
import { type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Answer } from './caller.ts'
import { foundWhere, idsOf, searchable, sellAll, startFinding, writeAll } from './discover-market.ts'
import type { TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { beginDay } from './town.ts'

let m: TestMarket
let bakery: Product
let garage: Product

beforeAll(async () => {
  m = await startFinding({ EMBEDDER: 'learned' })
  beginDay(m)
  const { reviewer } = m.market.accounts
  ;[bakery, garage] = (await sellAll(m, await openRecorded(m), [
    { name: 'Fresh bread', description: 'Baked every morning and delivered to your door', category: 'food' },
    {
      name: 'Car repair',
      description: 'Engines, brakes and tyres by trained mechanics',
      category: 'services',
    },
    { name: 'Piano lessons', description: 'For children and adults, at home', category: 'services' },
  ])) as [Product, Product, Product]
  const author = { owner: reviewer, agentId: await registerIdentity(m.market, reviewer) }
  await writeAll(m, garage, [
    [author, 5, 'The coffee in the waiting room was good'],
    [author, 5, 'My vehicle broke down and they fixed the motor in an hour'],
    [author, 5, 'Friendly people'],
  ])
  await searchable(m)
})
afterAll(() => m.close())

const QUERY = `intent=${encodeURIComponent('my automobile does not start')}&include_all=true`

/** An answer after all three reviews were listed and everything was embedded, with the vector of the intent in time. */
const understood = (query: string) =>
  foundWhere(
    m,
    query,
    ({ products }: Answer['body']) =>
      products.every(
        ({ sub_scores }: { sub_scores: { intent_match: number } }) => sub_scores.intent_match > 0,
      ) &&
      products[0].review_count === 3 &&
      products[0].reviews.every(({ relevance }: { relevance: number }) => relevance > 0),
  )

it('finds what is meant though no word of it is there, and which review is to the point', async () => {
  const { body } = await understood(QUERY)
  const [first] = body.products
  expect(first.product_id).toBe(garage.productId)
  expect(first.sub_scores.intent_match).toBeGreaterThan(0)
  const newcomer = first.reviews.find(({ slot }: { slot: string }) => slot === 'newcomer')
  expect(newcomer.content_json.description).toMatch(/vehicle/)
  for (const { relevance } of first.reviews) {
    expect(relevance).toBeGreaterThan(0)
    expect(relevance).toBeLessThanOrEqual(1)
  }
})

it('has the same answer, byte by byte, however often it is asked', async () => {
  const { text } = await understood(QUERY)
  for (let again = 0; again < 20; again += 1) expect((await understood(QUERY)).text).toBe(text)
})

it('explains what vectors add, and whose they are', async () => {
  const { body } = await understood(`${QUERY}&explain=true`)
  const { model, share, because } = body.explain.vectors
  expect([typeof model, because]).toEqual(['string', undefined])
  expect(share).toBeGreaterThan(0)
  const [{ product_score, sub_scores, explain, reviews }] = body.products
  const { intent_match, product_rank } = explain
  expect(intent_match).toMatchObject({ words: 0, share, value: sub_scores.intent_match })
  expect(intent_match.near).toBeGreaterThan(0)
  expect(share * intent_match.near).toBeCloseTo(sub_scores.intent_match, 12)
  expect(intent_match.contributes + product_rank.contributes).toBeCloseTo(product_score, 12)
  for (const { score, relevance, explain } of reviews) {
    expect(explain.relevance).toEqual({ value: relevance, weight: 0.35, contributes: 0.35 * relevance })
    const parts = [explain.author_rank, explain.relevance, explain.freshness]
    expect(parts.reduce((sum, { contributes }) => sum + contributes, 0)).toBeCloseTo(score, 12)
  }
})

it('finds by words and meaning together', async () => {
  const query = `intent=${encodeURIComponent('something for breakfast, bread or rolls')}`
  const { body } = await foundWhere(m, query, ({ products: [first] }) => first.sub_scores.intent_match > 0)
  expect(idsOf(body)[0]).toBe(bakery.productId)
})
