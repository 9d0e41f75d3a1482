// Changes are seen on every replica, and failures are recovered from. An endpoint makes the vectors.
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Service, startService } from '../../src/app/service.ts'
import { type EmbeddingServer, startEmbeddingServer } from '../../src/discovery/embeddings/testing.ts'
import { type Answer, type Caller, callerOf } from './caller.ts'
import {
  ask,
  describeProduct,
  findsFirst,
  found,
  foundWhere,
  idsOf,
  searchable,
  sellAll,
  setProductRanks,
  startFinding,
  writeAll,
} from './discover-market.ts'
import type { TestMarket } from './market.ts'
import { act, openRecorded } from './merchants.ts'
import { beginDay, type Person } from './town.ts'

/** The topics of texts, one dimension for each. */
const TOPICS = [
  ['umbrella', 'rain', 'wet', 'drizzle'],
  ['bread', 'bakery', 'hungry', 'loaf'],
  ['lantern', 'lamp', 'dark'],
]
const vectorOf = (text: string) => [
  ...TOPICS.map((words) => words.filter((word) => text.toLowerCase().includes(word)).length),
  0.1,
]
const vectorsOf = (input: readonly string[]) =>
  JSON.stringify({ data: input.map((text, index) => ({ index, embedding: vectorOf(text) })) })

let m: TestMarket
let embeddings: EmbeddingServer
let merchantId: bigint
let author: Person
let umbrella: Product
let loaf: Product
let lantern: Product
let second: Service
const clock = () => Date.now() + m.clock.aheadMs

beforeAll(async () => {
  embeddings = await startEmbeddingServer()
  embeddings.respond = ({ input }) => ({ body: vectorsOf(input) })
  m = await startFinding({
    EMBEDDER: 'endpoint',
    EMBEDDINGS_URL: embeddings.url,
    EMBEDDINGS_MODEL: 'topics',
    EMBEDDINGS_DIMENSIONS: String(TOPICS.length + 1),
  })
  beginDay(m)
  const { reviewer } = m.market.accounts
  merchantId = await openRecorded(m)
  author = { owner: reviewer, agentId: await registerIdentity(m.market, reviewer) }
  ;[umbrella, loaf, lantern] = (await sellAll(m, merchantId, [
    { name: 'Umbrella', category: 'outdoors' },
    { name: 'Rye loaf', category: 'food' },
    { name: 'Lantern', category: 'outdoors' },
  ])) as [Product, Product, Product]
  await writeAll(m, umbrella, [
    [author, 5, 'Kept me from the rain'],
    [author, 4, 'Came with a lamp'],
  ])
  second = await startService(m.service.context.config, { clock })
})
afterAll(async () => {
  await second.stop()
  await m.close()
  await embeddings.close()
})
afterEach(() => {
  vi.restoreAllMocks()
  m.nodes.only = undefined
  embeddings.respond = ({ input }) => ({ body: vectorsOf(input) })
})

let intents = 0
/** Words that no product has and that the endpoint has not seen. */
const neverAsked = (words: string) => {
  intents += 1
  return `intent=${words}%20nr${intents}`
}

const relevancesIn = ({ products }: Answer['body']): number[] =>
  products.flatMap(({ reviews }: { reviews: { relevance: number }[] | null }) =>
    (reviews ?? []).map(({ relevance }) => relevance),
  )
/** Both the vector of the intent and the search were in time. */
const isUnderstood = (body: Answer['body']) =>
  relevancesIn(body).some((relevance) => relevance > 0) &&
  body.products.some(({ sub_scores }: Answer['body']) => sub_scores.intent_match > 0)

describe('what is meant', () => {
  it('is found though no word of it is there, and reviews that are about it come first', async () => {
    // The review that is about it has its vector: the other one may have had its own before.
    const isAboutIt = (found: Answer['body']) => relevancesIn(found).some((relevance) => relevance > 0.5)
    const { body } = await foundWhere(
      m,
      'intent=drizzle',
      (found) => isUnderstood(found) && isAboutIt(found) && found.products[0].reviews?.length === 2,
    )
    expect(idsOf(body)[0]).toBe(umbrella.productId)
    const [other, about] = body.products[0].reviews
    expect(about).toMatchObject({ slot: 'newcomer', content_json: { description: 'Kept me from the rain' } })
    expect(about.relevance).toBeGreaterThan(0.9)
    expect(other.relevance).toBeLessThan(0.2)
    expect(about.score - other.score).toBeCloseTo(0.35 * (about.relevance - other.relevance), 12)
  })

  it.each<[string, EmbeddingServer['respond'] | 'away']>([
    ['refuses', () => ({ status: 500, body: 'no' })],
    ['is away', 'away'],
    ['answers with nonsense', () => ({ body: '<html>' })],
    ['answers with too few numbers', () => ({ body: '{"data":[{"index":0,"embedding":[1]}]}' })],
    ['answers with no numbers', () => ({ body: '{"data":[{"index":0,"embedding":["a",null,1,2]}]}' })],
    ['takes its time', ({ input }) => sleep(120_000, { body: vectorsOf(input) }, { ref: false })],
  ])(
    'is not known while the endpoint %s: ranks decide, and relevance is 0 [DISC-55, DISC-57]',
    async (_what, respond) => {
      await foundWhere(m, neverAsked('drizzle'), isUnderstood)
      await setProductRanks(m, [
        [umbrella, 0.4],
        [loaf, 0.6],
        [lantern, 0.5],
      ])
      if (respond === 'away') m.nodes.only = '"topics"'
      else embeddings.respond = respond
      const { status, body } = await ask(m, neverAsked('drizzle'))
      expect(status).toBe(200)
      expect(idsOf(body)).toEqual([loaf, lantern, umbrella].map(({ productId }) => productId))
      expect(relevancesIn(body)).toEqual([0, 0])
      const scores = body.products.map(({ product_score }: { product_score: number }) => product_score)
      expect(scores).toEqual([0.6, 0.5, 0.4])
      const byWords = await findsFirst(m, neverAsked('umbrella'), umbrella)
      expect(relevancesIn(byWords.body)).toEqual([0, 0])
    },
  )

  it('is known again when the endpoint is back', async () => {
    const query = neverAsked('hungry')
    const { body } = await foundWhere(m, query, ({ products: [first] }) => first?.sub_scores.intent_match > 0)
    expect(idsOf(body)[0]).toBe(loaf.productId)
  })
})

describe('a change is seen before long, on both replicas', () => {
  const both = (): Caller[] => [m.call, callerOf(second.url, clock)]
  const onBoth = async (query: string, isRight: (body: Answer['body']) => boolean) => {
    for (const call of both()) await foundWhere({ call }, query, isRight)
  }
  const shows = (products: Product[]) => (body: Answer['body']) =>
    `${idsOf(body)}` === `${products.map(({ productId }) => productId)}`
  const outdoors = 'intent=lantern&category=outdoors'

  it('of a name: it is found by the new one, and not by the old', async () => {
    await describeProduct(m, lantern, { name: 'Storm light', category: 'outdoors' })
    const isFirst = ({ products: [first] }: Answer['body']) =>
      first?.name === 'Storm light' && first.sub_scores.intent_match > 0
    await onBoth('intent=storm', isFirst)
    await onBoth(
      'intent=lantern&max_products=1',
      ({ products: [first] }) => first.sub_scores.intent_match === 0,
    )
    await describeProduct(m, lantern, { name: 'Lantern', category: 'outdoors' })
    await onBoth('intent=lantern', ({ products: [first] }) => first?.product_id === lantern.productId)
  })

  it('of a category', async () => {
    await describeProduct(m, lantern, { name: 'Lantern', category: 'camping' })
    await onBoth('intent=lantern&category=camping', shows([lantern]))
    await onBoth(outdoors, shows([umbrella]))
    await describeProduct(m, lantern, { name: 'Lantern', category: 'outdoors' })
    await onBoth(outdoors, shows([lantern, umbrella]))
  })

  it('of its reviews: a new one is shown, counted, and found by', async () => {
    const [written] = await writeAll(m, lantern, [[author, 5, 'Shines through fog like a lighthouse']])
    await onBoth('intent=lighthouse', ({ products: [first] }) => {
      const ids = first?.reviews?.map(({ internal_id }: { internal_id: number }) => internal_id)
      return (
        first?.product_id === lantern.productId &&
        first.review_count === 1 &&
        ids?.[0] === written?.internalId
      )
    })
  })

  it('of its rank', async () => {
    await setProductRanks(m, [[umbrella, 0.9]])
    await onBoth(
      'intent=zxqj&category=outdoors',
      ({ products: [first] }) => first.product_id === umbrella.productId && first.product_score === 0.9,
    )
  })

  it('of what is for sale: closed, suspended and open again', async () => {
    const { merchant, guardian } = m.market.accounts
    await act(m, merchant, 'setProductActive', merchantId, umbrella.productId, false)
    await onBoth('intent=umbrella&category=outdoors', shows([lantern]))
    await act(m, merchant, 'setProductActive', merchantId, umbrella.productId, true)
    await onBoth('intent=umbrella&category=outdoors', shows([umbrella, lantern]))
    await act(m, guardian, 'setSuspended', merchantId, true)
    await onBoth('intent=umbrella', shows([]))
    await act(m, guardian, 'setSuspended', merchantId, false)
    await onBoth('intent=umbrella&max_products=1', shows([umbrella]))
    await act(m, merchant, 'setActive', merchantId, false)
    await onBoth('intent=umbrella', shows([]))
    await act(m, merchant, 'setActive', merchantId, true)
    await onBoth('intent=umbrella&max_products=1', shows([umbrella]))
  })
})

describe('replicas', () => {
  const QUERIES = [
    'intent=drizzle',
    'intent=umbrela%20and%20bread&include_all=true',
    'intent=lighthouse&category=outdoors',
  ]

  beforeAll(() => searchable(m, [m.service, second]))

  const text = async (call: Caller, query: string) => (await foundWhere({ call }, query, isUnderstood)).text

  it.each(QUERIES)('answer alike, byte by byte, also one that was restarted: %s', async (query) => {
    const answer = await text(m.call, query)
    expect(await text(callerOf(second.url, clock), query)).toBe(answer)
    await second.stop()
    second = await startService(m.service.context.config, { clock })
    expect(await text(callerOf(second.url, clock), query)).toBe(answer)
  })

  it('whose search thread dies answer by ranks until it is back', async () => {
    const { text: before } = await foundWhere(m, 'intent=lantern', isUnderstood)
    const sent = vi.spyOn(Worker.prototype, 'postMessage')
    await found(m, 'intent=lantern')
    const threads = new Set(sent.mock.contexts as Worker[])
    expect(threads.size).toBe(1)
    await Promise.all([...threads].map((thread) => thread.terminate()))
    const { status, body } = await ask(m, 'intent=lantern')
    expect(status).toBe(200)
    expect(idsOf(body)[0]).toBe(umbrella.productId)
    expect(body.products[0]).toMatchObject({ product_score: 0.9, sub_scores: { intent_match: 0 } })
    expect((await findsFirst(m, 'intent=lantern', lantern)).status).toBe(200)
    expect(await text(m.call, 'intent=lantern')).toBe(before)
  })
})
