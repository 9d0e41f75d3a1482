import { createPublicKey, verify } from 'node:crypto'
import { openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, generic, startTestMarket, type TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { ENDPOINT, internalIdOf, KEYS, OUTCOMES, publish, registered, sell } from './reviews.ts'

const OTHER_CHAIN = 31_338
const NOT_FOUND = [404, { error: 'review not found' }]

interface Ids {
  onChain: number
  internal: number
}

let m: TestMarket
let agentId: bigint
let sold: Product
let bare: Product
/** Reviews of a product that is sold through links, and of one that is not. */
let linked: Ids & { minedAt: bigint }
let unlinked: Ids
/** On the chain without its text. */
let silent: Ids
/** Only in the records, with a text and without. */
let simulated: number
let pending: number
/** On the other chain, with an on-chain id that also exists on the default chain. */
let elsewhere: Ids

beforeAll(async () => {
  m = await startTestMarket({ chainIds: [31_337, OTHER_CHAIN] })
  const { market } = m
  const { reviewer: owner, merchant } = market.accounts
  // The other chain's records come first, so that internal and on-chain ids differ.
  for (const { market: other } of m.chains.slice(1)) {
    const merchantId = await openMerchant(other, merchant)
    const product = await sell({ ...m, market: other }, merchantId, 1)
    const written = { owner, agentId: await registerIdentity(other, owner), product }
    await publish(other, { ...written, content: generic(1, 'Of another chain') })
    await m.indexed()
    const internal = await registered(m, 1, generic(1, 'Of another chain'), `?chain_id=${OTHER_CHAIN}`)
    elsewhere = { onChain: 1, internal }
    for (const rating of [2, 3, 4]) await publish(other, { ...written, content: generic(rating, 'More') })
    await m.indexed()
  }

  const merchantId = await openRecorded(m)
  agentId = await registerIdentity(market, owner)
  sold = await sell(m, merchantId, 1, ENDPOINT)
  bare = await sell(m, merchantId, 2)
  async function write(product: Product, content: string) {
    const onChain = await publish(market, { owner, agentId, product, content })
    const { timestamp: minedAt } = await market.client.getBlock()
    await m.indexed()
    return { onChain, internal: await registered(m, onChain, content), minedAt }
  }
  linked = await write(sold, JSON.stringify({ rating: 4, description: 'Quick', tags: ['a', { b: null }] }))
  unlinked = await write(bare, generic(1, 'Slow'))
  const onChain = await publish(market, { owner, agentId, product: sold, content: generic(3, 'Unread') })
  await m.indexed()
  silent = { onChain, internal: await internalIdOf(m, m.chainId, onChain) }
  simulated = await record(generic(5, 'Made up'), 0.75)
  pending = await record(null, null)
})
afterAll(() => m.close())

/** Inserts the record directly, because no event on a chain creates such a review. */
async function record(content: string | null, score: number | null): Promise<number> {
  const [row] = await m.sql<{ internal_id: bigint }[]>`
    INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
      cashback_bps, content, satisfaction_score)
    VALUES (${m.chainId}, ${agentId}, ${sold.merchantId}, ${Buffer.from(sold.productId.slice(2), 'hex')}, '\\x00', 1,
      ${content ? 91 : 92}, 0, ${content}, ${score})
    RETURNING internal_id`
  return Number(row?.internal_id)
}

const read = (id: number | string, query = '') => m.call('GET', `/v1/review/${id}${query}`)
const readRecord = (id: number | string, query = '') => m.call('GET', `/v1/review-internal/${id}${query}`)

describe('a published review', () => {
  it('is read by its id on the chain, with all there is to know of it [REV-01, REV-05, REV-06, REV-07, REV-08, REV-09, REV-10, REV-16, REV-17, REV-52, REV-53, REV-54]', async () => {
    const { status, headers, body } = await read(linked.onChain)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(Object.keys(body)).toEqual(KEYS)
    expect(body).toEqual({
      internal_id: linked.internal,
      on_chain_id: linked.onChain,
      agent_id: Number(agentId),
      merchant_id: 0,
      product_id: sold.productId,
      satisfaction_score: 0.75,
      status: 'published',
      content_json: { rating: 4, description: 'Quick', tags: ['a', { b: null }] },
      ref_link: expect.stringMatching(/./),
      published_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
      comparison_outcome: 'pending',
      edited_at: null,
    })
  })

  it('was published when its block was made [REV-13]', async () => {
    const { published_at } = (await read(linked.onChain)).body
    expect(Date.parse(published_at)).toBe(Number(linked.minedAt) * 1_000)
  })

  it('carries a link under the base address, with a token of the version and the key that the manifest tells [AUTH-31, AUTH-32, REV-02, REV-95, VER-04]', async () => {
    const { ref_link } = (await read(linked.onChain)).body
    expect(ref_link.startsWith(`${BASE_URL}/r/`)).toBe(true)
    const token = ref_link.slice(`${BASE_URL}/r/`.length)
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/)
    const bytes = Buffer.from(token, 'base64url')
    const [payload, signature] = [bytes.subarray(0, -64), bytes.subarray(-64)]
    expect(JSON.parse(payload.toString())).toMatchObject({
      v: 4,
      chainId: m.chainId,
      splitRouter: m.market.addresses.SplitRouter,
      merchantEndpoint: ENDPOINT,
      merchantId: 0,
      productId: sold.productId,
      reviewId: linked.onChain,
      reviewerAgentId: Number(agentId),
      cashbackOfCommissionBps: 0,
    })
    const isSignedBy = (publicKey: string) => {
      const x = Buffer.from(publicKey, 'hex').toString('base64url')
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
      return verify(null, payload, key, signature)
    }
    const manifest = (await m.call('GET', '/.well-known/referrer-agent')).body
    const [own, other] = manifest.chains
    expect(own.chainId).toBe(m.chainId)
    expect(isSignedBy(own.attestationPubKey)).toBe(true)
    expect(isSignedBy(manifest.attestationPubKey)).toBe(true)
    expect(isSignedBy(other.attestationPubKey)).toBe(false)
    expect(manifest.attribution.tokenVersion).toBe(4)
  })

  it('has an empty link when its product is not sold through links [REV-12]', async () => {
    for (const { body } of [await read(unlinked.onChain), await readRecord(unlinked.internal)]) {
      expect(body).toMatchObject({ on_chain_id: unlinked.onChain, status: 'published', ref_link: '' })
    }
  })

  it.each(OUTCOMES)('tells that its comparison is %s [REV-14]', async (outcome) => {
    const compare = (to: string) =>
      m.sql`UPDATE market.reviews SET comparison_outcome = ${to} WHERE internal_id = ${unlinked.internal}`
    await compare(outcome)
    expect((await read(unlinked.onChain)).body.comparison_outcome).toBe(outcome)
    await compare('pending')
  })
})

describe('a record of a review', () => {
  it('is read by its own id, without credentials, and looks the same [REV-03, REV-61, REV-62]', async () => {
    for (const { onChain, internal } of [linked, unlinked, silent]) {
      const answer = await readRecord(internal)
      expect(answer.status).toBe(200)
      expect(answer.body.internal_id).toBe(internal)
      expect(Object.keys(answer.body)).toEqual(KEYS)
      expect(answer.text).toBe((await read(onChain)).text)
    }
  })

  it('is there before the review is on the chain [REV-04, REV-12, REV-13, REV-14, REV-15, REV-16, REV-17, REV-63, REV-64]', async () => {
    const about = {
      on_chain_id: null,
      agent_id: Number(agentId),
      merchant_id: 0,
      product_id: sold.productId,
      ref_link: '',
      published_at: null,
      comparison_outcome: 'pending',
      edited_at: null,
    }
    const [text, none] = [await readRecord(simulated), await readRecord(pending)]
    expect([text.status, none.status]).toEqual([200, 200])
    expect(text.body).toEqual({
      ...about,
      internal_id: simulated,
      satisfaction_score: 0.75,
      status: expect.not.stringMatching(/^published$/),
      content_json: { rating: 5, description: 'Made up' },
    })
    expect(none.body).toEqual({
      ...about,
      internal_id: pending,
      satisfaction_score: null,
      status: text.body.status,
      content_json: {},
    })
    for (const { body } of [text, none]) expect(Object.keys(body)).toEqual(KEYS)
  })

  it('is there when nobody brought its text: unscored and not published [REV-08, REV-12, REV-13, REV-15, REV-64]', async () => {
    const { status, body } = await readRecord(silent.internal)
    expect(status).toBe(200)
    expect(body).toMatchObject({ on_chain_id: silent.onChain, satisfaction_score: null, content_json: {} })
    expect(body).toMatchObject({ ref_link: '', published_at: null, comparison_outcome: 'pending' })
    expect(body.status).not.toBe('published')
  })

  it('has another id than the review has on the chain [REV-70]', async () => {
    expect(linked.onChain).not.toBe(linked.internal)
    expect((await read(linked.onChain)).body.internal_id).toBe(linked.internal)
    expect([(await read(linked.internal)).status, (await read(simulated)).status]).toEqual([404, 404])
    const crossed = await readRecord(linked.onChain)
    expect(crossed.body).not.toMatchObject({ internal_id: linked.internal })
  })
})

describe('a review of another chain', () => {
  it('is found on that chain only [REV-55]', async () => {
    expect(elsewhere.onChain).toBe(linked.onChain)
    const query = `?chain_id=${OTHER_CHAIN}`
    const there = await read(elsewhere.onChain, query)
    expect(there.body).toMatchObject({
      internal_id: elsewhere.internal,
      content_json: { description: 'Of another chain' },
    })
    expect((await readRecord(elsewhere.internal, query)).text).toBe(there.text)
    expect((await read(elsewhere.onChain)).body.internal_id).toBe(linked.internal)
    // Internal ids are unique across chains: without a chain any review is found, with one only those of that chain.
    expect((await readRecord(elsewhere.internal)).text).toBe(there.text)
    expect((await readRecord(elsewhere.internal, '?chain_id=31337')).status).toBe(404)
    expect((await read(linked.onChain, `?chain_id=${m.chainId}`)).body.internal_id).toBe(linked.internal)
    // Only the other chain has a review with this id.
    const { status, body } = await read(4)
    expect([status, body]).toEqual(NOT_FOUND)
    expect((await read(4, query)).status).toBe(200)
  })

  it.each([read, readRecord])('is not looked for on a chain that is not served', async (ask) => {
    const { status, body } = await ask(1, '?chain_id=999999999')
    expect([status, body]).toEqual([400, { error: 'chain_id not configured' }])
  })
})

describe('what is no review', () => {
  it.each([
    ['0', '[REV-56, REV-65]'],
    ['-1', '[REV-57, REV-66]'],
    ['abc', '[REV-58, REV-67]'],
    ['1.5', '[REV-58, REV-67]'],
    ['1e3', '[REV-58, REV-67]'],
    ['0x1', '[REV-58, REV-67]'],
    ['9007199254740992', '[REV-58, REV-67]'],
  ])('the id %s is refused %s', async (id) => {
    for (const { status, body } of [await read(id), await readRecord(id)])
      expect([status, body]).toEqual([400, { error: 'invalid review id' }])
  })

  it('an id that nothing has is not found [REV-59, REV-68]', async () => {
    for (const { status, body } of [await read(99_999_999), await readRecord(99_999_999)])
      expect([status, body]).toEqual(NOT_FOUND)
  })

  it('records that cannot be read say no more than that something went wrong [REV-60, REV-69]', async () => {
    const expectFailures = async () => {
      for (const { status, body } of [await read(linked.onChain), await readRecord(linked.internal)])
        expect([status, body]).toEqual([500, { error: 'internal error' }])
    }
    // A cached answer is not sent either while its validity cannot be checked.
    await m.withoutTable('market.review_changes', () => m.withoutTable('market.reviews', expectFailures))
  })
})
