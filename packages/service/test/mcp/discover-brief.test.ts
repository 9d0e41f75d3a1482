// The answer stays small for a model, however much a reviewer writes.
import { type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rebuildListings } from '../../src/app/commands/rebuild-listings.ts'
import { must } from '../http/caller.ts'
import { sellAll } from '../http/discover-market.ts'
import { NO_WORK, startTestMarket, type TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { publish, registered } from '../http/reviews.ts'
import { newcomer, type Person } from '../http/town.ts'
import { type CheckedCaller, connectChecked } from './checked.ts'

const OWN = 14
const MEASURED = { calls: 10, successes: 10, latency_ms: { p50: 1, p95: 2, p99: 3 } }

let m: TestMarket
let mcp: CheckedCaller
let product: Product
/** Internal ids, in the order of publication. */
let own: number[]
let bystander: number
let long: number

/** A text of the largest allowed size, with characters that JSON escapes to six times their length. */
function largeText(rating: number): string {
  const fitted = (pages: number) =>
    JSON.stringify({ rating, description: '\u0001'.repeat(400), ...MEASURED, story: 'x'.repeat(pages) })
  const text = fitted(16_384 - fitted(0).length)
  expect(Buffer.byteLength(text)).toBe(16_384)
  return text
}

async function write(author: Person, content: string): Promise<number> {
  const reviewId = await publish(m.market, { ...author, product, content })
  await m.indexed()
  return registered(m, reviewId, content)
}

beforeAll(async () => {
  m = await startTestMarket({ overrides: NO_WORK })
  const { merchant } = m.market.accounts
  await registerIdentity(m.market, m.market.accounts.stranger)
  const merchantId = await openRecorded(m)
  ;[product] = (await sellAll(m, merchantId, [{ name: 'anchors', endpoint: 'https://shop.test/buy' }])) as [
    Product,
  ]
  const two = [await registerIdentity(m.market, merchant), await registerIdentity(m.market, merchant)]
  own = []
  for (let at = 0; at < OWN; at += 1) {
    own.push(await write({ owner: merchant, agentId: two[at % 2] as bigint }, largeText(5)))
  }
  bystander = await write(await newcomer(m), JSON.stringify({ rating: 3, description: 'It floats' }))
  long = await write(await newcomer(m), largeText(4))
  await rebuildListings(m.sql, m.chainId, new Date())
  mcp = await connectChecked(m)
})
afterAll(async () => {
  await mcp.close()
  await m.close()
})

type Entry = Record<string, unknown> & { slot: string; internal_id: number }
const excludedIn = ({ products: [first] }: { products: { reviews: Entry[] }[] }) =>
  (first?.reviews ?? []).filter(({ slot }) => slot === 'excluded')
const entryOf = (answer: { products: { reviews: Entry[] }[] }, id: number) =>
  answer.products[0]?.reviews.find(({ internal_id }) => internal_id === id)

describe('fourteen large reviews by the owner of a shop', () => {
  it('are all in the answer of the route, none for more than 6 KB [DISC-44]', async () => {
    const { body, text } = await m.call('GET', '/v1/discover?intent=anchors')
    const excluded = excludedIn(body)
    expect(excluded.map(({ internal_id }) => internal_id).sort((a, b) => a - b)).toEqual(own)
    for (const entry of excluded) {
      expect(entry).toMatchObject({ excluded_reason: 'self_review', content_shortened: true })
      expect(Buffer.byteLength(JSON.stringify(entry))).toBeLessThan(6_000)
    }
    expect(Buffer.byteLength(text)).toBeLessThan(OWN * 6_000 + 20_000)
  })

  it('are one entry of the tool and a count, and its answer stays small', async () => {
    const { structured, text } = await mcp.call('discover_products', { intent: 'anchors', include_all: true })
    expect(excludedIn(structured)).toEqual([expect.objectContaining({ internal_id: own.at(-1) })])
    expect(structured.products[0]).toMatchObject({ review_count: OWN + 2, more_excluded: OWN - 1 })
    expect(Buffer.byteLength(text)).toBeLessThan(12_000)
  })
})

describe('a long text', () => {
  it('keeps its rating, its measures and the beginning of what it says, and says that it is shortened', async () => {
    const answer = await mcp.ok('discover_products', { intent: 'anchors' })
    expect(entryOf(answer, long)).toMatchObject({
      content_json: { rating: 4, description: `${'\u0001'.repeat(280)}…`, ...MEASURED },
      content_shortened: true,
    })
    expect(entryOf(answer, bystander)).toMatchObject({
      content_json: { rating: 3, description: 'It floats' },
    })
    expect(entryOf(answer, bystander)).not.toHaveProperty('content_shortened')
  })

  it('is whole on the slate of the route, and alone in the tool', async () => {
    const whole = JSON.parse(largeText(4))
    const routed = await must(m.call('GET', '/v1/discover?intent=anchors'))
    const entry = entryOf(routed, long)
    expect(entry?.content_json).toEqual(whole)
    expect(entry).not.toHaveProperty('content_shortened')
    expect((await mcp.ok('get_review', { internal_id: long })).content_json).toEqual(whole)
  })

  it('is short in the lists of the tool and whole in those of the route', async () => {
    const { merchantId, productId } = product
    const ofProduct = { merchant_id: Number(merchantId), product_id: productId }
    for (const [args, query] of [
      [{ limit: 5 }, 'limit=5'],
      [ofProduct, `merchant_id=${merchantId}&product_id=${productId}`],
    ] as const) {
      const listed = await mcp.ok('list_reviews', args)
      expect(listed.reviews[0]).toMatchObject({ internal_id: long, content_shortened: true })
      expect(Buffer.byteLength(JSON.stringify(listed))).toBeLessThan(listed.reviews.length * 6_000)
      const { reviews } = await must(m.call('GET', `/v1/review?${query}`))
      expect(reviews[0].content_json).toEqual(JSON.parse(largeText(4)))
    }
  })
})

it('texts that JSON allows and a database might refuse are taken, and shown short', async () => {
  const odd = `{ "rating" : 50.0e-1 , "tiny": 1e-400000, "description":"${'\\ud83d\\ude00'.repeat(600)}", "": [] }`
  const id = await write(await newcomer(m), odd)
  const listed = await mcp.ok('list_reviews', { limit: 1 })
  expect(listed.reviews).toEqual([
    expect.objectContaining({
      internal_id: id,
      content_json: { rating: 5, description: `${'😀'.repeat(280)}…`, tiny: 0, '': [] },
      content_shortened: true,
    }),
  ])
})
