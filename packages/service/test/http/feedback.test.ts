import { mintUsdc, type Product, registerIdentity } from '@referrer/contracts/local'
import { Feedback } from '@referrer/protocol'
import { type Hex, type LocalAccount, zeroHash } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call } from '../calls.ts'
import { connectChecked } from '../mcp/checked.ts'
import { must } from './caller.ts'
import { send } from './chain.ts'
import { foundWhere, searchable, startFinding } from './discover-market.ts'
import { publishBuyerReview } from './escrows.ts'
import { BASE_URL, buy, generic, publishReview, type TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { ENDPOINT, sell } from './reviews.ts'
import { beginDay } from './town.ts'

let m: TestMarket
let merchantId: bigint
let product: Product
let authorId: bigint
let buyerAgentId: bigint
/** Of a reviewer, on an approved proof. */
let linked: { reviewId: bigint }
/** Of a buyer, on a purchase. */
let bought: { reviewId: number; content: string }

beforeAll(async () => {
  m = await startFinding()
  beginDay(m)
  const { reviewer, buyer } = m.market.accounts
  merchantId = await openRecorded(m)
  authorId = await registerIdentity(m.market, reviewer)
  buyerAgentId = await registerIdentity(m.market, buyer)
  await mintUsdc(m.market, buyer.address, 100_000_000n)
  product = await sell(m, merchantId, 1, ENDPOINT)
  const content = generic(5, 'Quick and right')
  linked = await publishReview(m, reviewer, { agentId: authorId, product, content, proofId: 1n })
  bought = await reviewPurchase(4, 'As told')
})
afterAll(() => m.close())

/** Buys, publishes and registers a review of the purchase. */
async function reviewPurchase(rating: number, text: string) {
  const { buyer } = m.market.accounts
  const { reviewId } = linked
  const deposit = await buy(m, buyer, { product, reviewId, reviewerAgentId: authorId, buyerAgentId })
  const content = generic(rating, text)
  const body = await publishBuyerReview(m, buyer, deposit, content)
  await m.indexed()
  await must(m.call('POST', '/v1/review/register', { as: buyer, body }))
  return { reviewId: body.review_id, content }
}

interface Given {
  about?: bigint
  value?: bigint
  decimals?: number
  tag1?: string
  uri?: string
  hash?: Hex
}

async function give(by: LocalAccount, { about = merchantId, value = 75n, ...more }: Given = {}) {
  const { decimals = 0, tag1 = 'referrer', uri = '', hash = zeroHash } = more
  const args = [about, value, decimals, tag1, '', ENDPOINT, uri, hash]
  await send(m, call(m, by, 'ReputationRegistry', 'giveFeedback', args))
  await m.indexed()
}

const read = async (path: string) => must(m.call('GET', path))
const ofMerchant = (query = '') => read(`/v1/merchant/${merchantId}/feedback${query}`)
const fileUrl = (reviewId: number) => Feedback.urlOf(BASE_URL, m.chainId, reviewId)
const fileOf = (reviewId: number) =>
  fetch(`${m.service.url}/v1/review/${reviewId}/feedback?chain_id=${m.chainId}`)

describe('feedback', () => {
  it('of others is shown, newest first, with its figures as they were given', async () => {
    const { stranger, buyer } = m.market.accounts
    await give(stranger, { value: -32n, decimals: 1, tag1: 'tradingYield', uri: 'ipfs://abc' })
    await give(buyer, { value: 10n ** 38n, tag1: 'revenues' })
    const { feedback, given, revoked, registry } = await ofMerchant()
    expect(feedback).toMatchObject([
      { client_address: buyer.address, value: String(10n ** 38n), tag1: 'revenues', is_mirror: false },
      {
        client_address: stranger.address,
        feedback_index: 1,
        value: '-32',
        value_decimals: 1,
        tag1: 'tradingYield',
        endpoint: ENDPOINT,
        feedback_uri: 'ipfs://abc',
        is_revoked: false,
        is_mirror: false,
      },
    ])
    expect({ given, revoked, registry }).toEqual({
      given: 2,
      revoked: 0,
      registry: m.market.addresses.ReputationRegistry,
    })
    expect(await read(`/v1/agent/${merchantId}/feedback`)).toEqual(await ofMerchant())
  })

  it('is paged, and narrowed to one client', async () => {
    const { stranger } = m.market.accounts
    const first = await ofMerchant('?limit=1')
    const second = await ofMerchant('?limit=1&page=2')
    expect([first.has_more, second.has_more]).toEqual([true, false])
    expect(second.feedback[0].client_address).toBe(stranger.address)
    const { feedback } = await ofMerchant(`?client=${stranger.address.toLowerCase()}`)
    expect(feedback).toEqual(second.feedback)
    expect((await m.call('GET', `/v1/merchant/${merchantId}/feedback?client=0x1`)).status).toBe(400)
  })

  it('that was revoked is shown as revoked', async () => {
    const { stranger } = m.market.accounts
    await send(m, call(m, stranger, 'ReputationRegistry', 'revokeFeedback', [merchantId, 1n]))
    await m.indexed()
    const { feedback, revoked } = await ofMerchant(`?client=${stranger.address}`)
    expect(feedback).toMatchObject([{ is_revoked: true }])
    expect(revoked).toBe(1)
  })

  it('is not found about agents that are not there, and merchants that are none', async () => {
    for (const path of ['/v1/agent/999/feedback', `/v1/merchant/${authorId}/feedback`]) {
      expect((await m.call('GET', path)).status, path).toBe(404)
    }
    expect((await read(`/v1/agent/${authorId}/feedback`)).feedback).toEqual([])
  })

  it('is the mirror of a review only from its author, about its merchant and with its rating', async () => {
    const { buyer, stranger } = m.market.accounts
    const uri = fileUrl(bought.reviewId)
    await give(stranger, { uri })
    await give(buyer, { uri, value: 100n })
    await give(buyer, { uri, about: authorId })
    await give(buyer, { uri: uri.replace(BASE_URL, 'https://other.test') })
    await give(buyer, { uri: fileUrl(Number(linked.reviewId)), value: 100n })
    await give(buyer, { uri, decimals: 1 })
    const about = [await ofMerchant(), await read(`/v1/agent/${authorId}/feedback`)]
    for (const { feedback } of about) {
      expect(feedback.length).toBeGreaterThan(0)
      for (const entry of feedback) expect(entry).toMatchObject({ is_mirror: false })
    }
    await give(buyer, { uri, hash: Feedback.hash(await (await fileOf(bought.reviewId)).text()) })
    const { feedback } = await ofMerchant('?limit=1')
    expect(feedback).toMatchObject([{ is_mirror: true, review_id: bought.reviewId, value: '75' }])
  })

  it('has a tool that marks what strangers wrote', async () => {
    const mcp = await connectChecked(m)
    try {
      const { untrusted_text: notice, ...answer } = await mcp.ok('get_feedback', {
        agent_id: Number(merchantId),
      })
      expect(notice).toContain('tag1, tag2, endpoint, feedback_uri')
      expect(answer).toEqual(await ofMerchant())
    } finally {
      await mcp.close()
    }
  })
})

describe('the feedback file of a review', () => {
  it('is what the chain and the author said, byte for byte the same each time', async () => {
    const { buyer } = m.market.accounts
    const [first, second] = [await fileOf(bought.reviewId), await fileOf(bought.reviewId)]
    expect(first.headers.get('content-type')).toContain('application/json')
    const text = await first.text()
    expect(await second.text()).toBe(text)
    expect(Feedback.parse(text)).toMatchObject({
      chainId: m.chainId,
      identityRegistry: m.market.addresses.IdentityRegistry,
      merchantId,
      client: buyer.address,
      rating: 4,
      agentId: buyerAgentId,
      productId: product.productId,
      content: bought.content,
      payment: { from: buyer.address, escrow: m.market.addresses.CommissionEscrow },
    })
  })

  it('exists only for published reviews of purchases', async () => {
    for (const reviewId of [Number(linked.reviewId), 999]) {
      expect((await fileOf(reviewId)).status).toBe(404)
    }
  })
})

it('changes no rank, no standing and no answer of discovery', async () => {
  const { stranger, walletBuyer } = m.market.accounts
  const agentId = Number(authorId)
  const paths = [
    `/v1/agent/${agentId}/rank`,
    `/v1/agent/${agentId}`,
    `/v1/merchant/${merchantId}`,
    `/v1/merchant/${merchantId}/summary`,
    `/v1/merchant/product?merchant_id=${merchantId}&product_id=${product.productId}`,
    `/v1/standing/shop/${merchantId}`,
    `/v1/standing/owner/${m.market.accounts.reviewer.address}`,
    '/v1/leaderboard',
    `/v1/review?merchant_id=${merchantId}&product_id=${product.productId}`,
  ]
  const answers = async () => {
    const all = []
    for (const path of paths) all.push((await m.call('GET', path)).body)
    // A search that takes too long is answered by ranks alone.
    const query = 'intent=weather&include_all=true&explain=true'
    const isFound: Parameters<typeof foundWhere>[2] = ({ explain, products: [first] }) =>
      explain?.words && first?.review_count === reviews
    all.push((await foundWhere(m, query, isFound)).body)
    return all
  }
  const queued = () => m.sql`SELECT FROM market.pending_changes`
  await searchable(m)
  const [{ reviews }] = await m.sql<[{ reviews: number }]>`
    SELECT review_count AS reviews FROM market.listings WHERE merchant_id = ${merchantId}`
  const before = await answers()
  for (const by of [stranger, walletBuyer]) {
    for (const about of [merchantId, authorId]) await give(by, { about, value: 0n })
  }
  // Nothing that derives from records is even told of it.
  expect(await queued()).toHaveLength(0)
  expect(await answers()).toEqual(before)
})
