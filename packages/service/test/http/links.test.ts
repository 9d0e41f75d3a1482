import { openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { AttestationKey, AttributionToken } from '@referrer/protocol'
import { hexToBytes, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call } from '../calls.ts'
import { startReplica } from '../oracle/world.ts'
import { callerOf, must } from './caller.ts'
import { send } from './chain.ts'
import { ATTESTATION_SEEDS, generic, NO_WORK, productOf, startTestMarket, type TestMarket } from './market.ts'
import { act } from './merchants.ts'
import { ENDPOINT, publish, registered, sell } from './reviews.ts'

const FACILITATOR = 'https://pay.test'
/** The seed of the former key. */
const OLD_SEED = numberToHex(0xa0, { size: 32 })
const KEYS = [
  ...['merchant_endpoint', 'token', 'split_router', 'facilitator_url', 'chain_id', 'merchant_id'],
  ...['product_id', 'review_id', 'reviewer_agent_id', 'cashback_of_commission_bps'],
]

let m: TestMarket
let agentId: bigint
let merchantId: bigint
let product: Product
let reviewId: number
let token: string
let terms: AttributionToken.Terms

beforeAll(async () => {
  m = await startTestMarket({
    env: {
      FACILITATOR_URL: FACILITATOR,
      ATTESTATION_KEYS: JSON.stringify({ 31337: [ATTESTATION_SEEDS[0], OLD_SEED] }),
    },
  })
  const { merchant, reviewer } = m.market.accounts
  merchantId = await openMerchant(m.market, merchant)
  agentId = await registerIdentity(m.market, reviewer)
  await must(m.call('POST', '/v1/merchant/register', { as: merchant, body: { merchant_id: 0 } }))
  product = await sell(m, merchantId, 1, ENDPOINT)
  reviewId = await publish(m.market, { owner: reviewer, agentId, product, content: generic(4, 'Quick') })
  await m.indexed()
  await registered(m, reviewId, generic(4, 'Quick'))
  const { ref_link } = await must(m.call('GET', `/v1/review/${reviewId}`))
  token = ref_link.split('/').at(-1)
  const { v: _version, kid: _kid, ...rest } = AttributionToken.decodeUnverified(token)
  terms = rest
})
afterAll(() => m.close())

const resolve = (text: string) => m.call('GET', `/r/${text}`)
const mint = async (change: Partial<AttributionToken.Terms> = {}, seed = ATTESTATION_SEEDS[0]) =>
  AttributionToken.mint({ ...terms, ...change }, await AttestationKey.signingKey(hexToBytes(seed ?? '0x')))

const notFound = { status: 404, body: { error: 'not found' } }
const invalid = { status: 400, body: { error: 'invalid token' } }

describe('a ref link', () => {
  it('leads to the endpoint, the token, the router and the facilitator [REF-01, REF-02, REF-03, REF-04]', async () => {
    const { status, headers, body } = await resolve(token)
    expect(status).toBe(200)
    expect(body).toEqual({
      merchant_endpoint: ENDPOINT,
      token,
      split_router: m.market.addresses.SplitRouter,
      facilitator_url: FACILITATOR,
      chain_id: m.chainId,
      merchant_id: Number(merchantId),
      product_id: product.productId,
      review_id: reviewId,
      reviewer_agent_id: Number(agentId),
      cashback_of_commission_bps: 0,
    })
    expect(Object.keys(body)).toEqual(KEYS)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('vary')).toBe('Accept')
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  it('carries in its token what buying through it needs [AUTH-30, AUTH-33, AUTH-34, AUTH-35, AUTH-36, AUTH-37]', async () => {
    const { body } = await resolve(token)
    const bytes = Buffer.from(body.token, 'base64url')
    expect(JSON.parse(bytes.subarray(0, -64).toString())).toMatchObject({
      splitRouter: body.split_router,
      merchantEndpoint: body.merchant_endpoint,
      chainId: body.chain_id,
      cashbackOfCommissionBps: body.cashback_of_commission_bps,
      reviewerAgentId: body.reviewer_agent_id,
    })
  })

  it('tells what the reviewer pledged to buyers', async () => {
    const { body } = await resolve(await mint({ cashbackOfCommissionBps: 2_500 }))
    expect(body.cashback_of_commission_bps).toBe(2_500)
  })

  it('resolves as long as its key counts, whether a newer one exists or not', async () => {
    const older = await mint({ issuedAt: 1, merchantEndpoint: 'https://old.test/buy' })
    const before = await mint({}, OLD_SEED)
    for (const text of [older, before, older])
      expect(await resolve(text)).toMatchObject({
        status: 200,
        body: { token: text, merchant_endpoint: ENDPOINT },
      })
  })

  it('follows its merchant to another endpoint at once, on every replica, and links made from then on carry it', async () => {
    const replica = await startReplica(m, NO_WORK)
    const elsewhere = callerOf(replica.url)
    const moveTo = (endpoint_url: string) => {
      const texts = { name: 'Weather', description: 'Of tomorrow', category: 'books' }
      const body = { merchant_id: Number(merchantId), product_id: product.productId, endpoint_url, ...texts }
      return must(m.call('POST', '/v1/merchant/product', { as: m.market.accounts.merchant, body }))
    }
    try {
      for (const endpoint of [`${ENDPOINT}/moved`, ENDPOINT]) {
        // Both replicas have it in their cache.
        for (const ask of [m.call, elsewhere]) {
          await must(ask('GET', `/r/${token}`))
          await must(ask('GET', `/v1/review/${reviewId}`))
        }
        await moveTo(endpoint)
        for (const ask of [m.call, elsewhere]) {
          expect((await ask('GET', `/r/${token}`)).body).toMatchObject({ merchant_endpoint: endpoint, token })
          const { ref_link } = await must(ask('GET', `/v1/review/${reviewId}`))
          const { merchantEndpoint } = AttributionToken.decodeUnverified(ref_link.split('/').at(-1))
          expect(merchantEndpoint).toBe(endpoint)
        }
        const page = await m.call('GET', `/r/${token}`, { headers: { accept: 'text/html' } })
        expect(page.text).toContain(`curl -i &#39;${endpoint}&#39;`)
      }
    } finally {
      await replica.stop()
    }
  })

  it('leads to no facilitator where none is told of', async () => {
    const { config } = m.service.context
    m.service.context.config = { ...config, facilitatorUrl: undefined }
    try {
      expect((await resolve(token)).body).toHaveProperty('facilitator_url', null)
    } finally {
      m.service.context.config = config
    }
  })

  it('answers HEAD like GET, without a body', async () => {
    const { status, headers, text } = await m.call('HEAD', `/r/${token}`)
    expect({ status, text }).toEqual({ status: 200, text: '' })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect((await m.call('HEAD', '/r/x')).status).toBe(400)
  })
})

describe('a token', () => {
  it('of which any character was changed does not resolve [REF-06]', async () => {
    for (let at = 0; at < token.length; at += Math.ceil(token.length / 60)) {
      const other = token[at] === 'A' ? 'B' : 'A'
      expect(await resolve(`${token.slice(0, at)}${other}${token.slice(at + 1)}`)).toMatchObject(invalid)
    }
  })

  it('that is none does not resolve [REF-06]', async () => {
    const cut = [token.slice(0, -1), token.slice(1), `${token}A`, `${token}=`]
    for (const text of [...cut, 'x', '%00', '%F0%9F%92%A9', '..%2F', 'a'.repeat(5_000)]) {
      expect(await resolve(text)).toMatchObject(invalid)
    }
  })

  it('with the terms of one and the signature of another does not resolve [REF-06]', async () => {
    const other = Buffer.from(await mint({ cashbackOfCommissionBps: 4_000 }), 'base64url')
    const own = Buffer.from(token, 'base64url')
    const spliced = Buffer.concat([other.subarray(0, -64), own.subarray(-64)])
    expect(await resolve(spliced.toString('base64url'))).toMatchObject(invalid)
  })

  it('of another key, or of a chain that is not served, does not resolve', async () => {
    expect(await resolve(await mint({}, ATTESTATION_SEEDS[1]))).toMatchObject(invalid)
    expect(await resolve(await mint({ chainId: 1 }))).toMatchObject(invalid)
  })

  it('of a router that was replaced does not resolve: nobody is paid there any more', async () => {
    expect(await resolve(await mint({ splitRouter: m.market.addresses.USDC }))).toMatchObject(notFound)
  })

  it('of a product, merchant or review that is not in the records does not resolve', async () => {
    for (const change of [
      { productId: productOf(404) },
      { merchantId: 404 },
      { reviewId: 404 },
      { reviewerAgentId: 404 },
      { merchantId: Number(agentId) },
    ]) {
      expect(await resolve(await mint(change))).toMatchObject(notFound)
    }
  })
})

describe('a link stops resolving', () => {
  const { setProductActive, setActive, setSuspended } = {
    setProductActive: (isActive: boolean) =>
      act(m, m.market.accounts.merchant, 'setProductActive', merchantId, product.productId, isActive),
    setActive: (isActive: boolean) => act(m, m.market.accounts.merchant, 'setActive', merchantId, isActive),
    setSuspended: (isActive: boolean) =>
      act(m, m.market.accounts.guardian, 'setSuspended', merchantId, !isActive),
  }

  it.each([
    ['product is closed [REF-05, MERCH-78]', setProductActive],
    ['merchant is closed', setActive],
    ['merchant is suspended', setSuspended],
  ])('while its %s', async (_what, set) => {
    await set(false)
    await m.indexed()
    expect(await resolve(token)).toMatchObject(notFound)
    expect(await resolve(token.replace(/.$/, '!'))).toMatchObject(invalid)
    await set(true)
    await m.indexed()
    expect(await resolve(token)).toMatchObject({ status: 200 })
  })

  it('when its merchant has another owner, until that one opens it', async () => {
    const { merchant, stranger } = m.market.accounts
    const transfer = (from: typeof merchant, to: typeof merchant) =>
      send(m, call(m, from, 'IdentityRegistry', 'transferFrom', [from.address, to.address, merchantId]))
    await transfer(merchant, stranger)
    await m.indexed()
    expect(await resolve(token)).toMatchObject(notFound)
    await transfer(stranger, merchant)
    await m.indexed()
    expect(await resolve(token)).toMatchObject({ status: 200 })
  })

  it('and says so when the records cannot be read', async () => {
    const answer = await m.withoutTable('chain.products', () => resolve(token))
    expect(answer).toMatchObject({ status: 500, body: { error: 'internal error' } })
    expect(await resolve(token)).toMatchObject({ status: 200 })
  })
})
