import {
  type EscrowDeposit,
  escrowTerms,
  listProduct,
  mintUsdc,
  openMerchant,
  type Product,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import {
  concat,
  type Hex,
  hexToBigInt,
  keccak256,
  type LocalAccount,
  numberToHex,
  parseEventLogs,
  size,
  slice,
  stringToHex,
} from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { call as contractCall } from '../calls.ts'
import { NAMING_US, signatureHeaders } from './caller.ts'
import { send } from './chain.ts'
import { buy, generic, productOf, publishReview, startTestMarket, type TestMarket } from './market.ts'
import { rawCallerOf } from './raw.ts'

const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let m: TestMarket
/** While set, the service's clock stands still. */
let nowMs: number | undefined
let agentId: number
let merchantId: number
let owner: LocalAccount
let other: LocalAccount
let merchant: LocalAccount

beforeAll(async () => {
  m = await startTestMarket({ overrides: { clock: () => nowMs ?? Date.now() } })
  const { reviewer, stranger } = m.market.accounts
  merchant = m.market.accounts.merchant
  owner = reviewer
  other = stranger
  agentId = Number(await registerIdentity(m.market, owner))
  merchantId = Number(await openMerchant(m.market, merchant))
  await listProduct(m.market, merchant, { merchantId: BigInt(merchantId), productId: productOf(1) })
  await m.indexed()
  await m.call('POST', '/v1/merchant/register', { as: merchant, body: { merchant_id: merchantId } })
})
afterAll(() => m.close())
afterEach(() => {
  nowMs = undefined
})

const seconds = () => Math.floor((nowMs ?? Date.now()) / 1_000)

/** Sets a spending limit, which belongs to the wallet that the service takes for the caller. */
const setCap = (cap: number, ask: Parameters<TestMarket['call']>[2]) =>
  m.call('POST', '/v1/spending-limits', { body: { chain_id: m.chainId, per_tx_cap_usdc: cap }, ...ask })

const readCap = (ask: Parameters<TestMarket['call']>[2]) =>
  m.call('GET', `/v1/spending-limits?chain_id=${m.chainId}`, ask)

async function tokenOf(account: LocalAccount): Promise<string> {
  const { body } = await m.call('POST', '/v1/auth/session', { as: account, body: NAMING_US })
  return body.token
}

const refused = (detail: string) => ({ status: 401, body: { error: 'unauthorized', detail } })

/** Signs any hash the way wallets do. */
const personally = (account: LocalAccount, raw: Hex) => account.signMessage({ message: { raw } })

describe('public routes', () => {
  it.each([
    '/v1/review',
    '/v1/agent',
    '/v1/stats/mean-rank',
    '/v1/merchant',
    '/.well-known/referrer-agent',
    '/.well-known/referrer-agent.txt',
  ])('GET %s needs no credentials [AUTH-01]', async (path) => {
    expect((await m.call('GET', path)).status).toBe(200)
  })

  it('the catalogue reads of one merchant and one product need no credentials [AUTH-01]', async () => {
    expect((await m.call('GET', `/v1/merchant/${merchantId}`)).status).toBe(200)
    const query = `merchant_id=${merchantId}&product_id=${productOf(1)}`
    expect((await m.call('GET', `/v1/merchant/product?${query}`)).status).toBe(200)
  })

  it('a public route does not look at credentials, wrong ones either', async () => {
    const headers = { authorization: 'Bearer nonsense', 'x-agent-timestamp': 'x', 'x-agent-signature': 'y' }
    expect((await m.call('GET', '/v1/review', { headers })).status).toBe(200)
  })
})

describe('a signed request', () => {
  it('is refused without its timestamp [AUTH-02]', async () => {
    const { 'x-agent-signature': signature = '' } = await signatureHeaders(owner, NAMING_US, seconds())
    const headers = { 'x-agent-signature': signature }
    expect(await m.call('POST', '/v1/auth/session', { headers, body: NAMING_US })).toMatchObject(
      refused('signature required'),
    )
  })

  it('is refused without its signature [AUTH-03]', async () => {
    const headers = { 'x-agent-timestamp': String(seconds()) }
    expect(await m.call('POST', '/v1/auth/session', { headers, body: NAMING_US })).toMatchObject(
      refused('signature required'),
    )
  })

  it('is signed over the hash of the body and the timestamp as eight bytes, and the signer is the caller [AUTH-04, AUTH-07]', async () => {
    const body = `{"chain_id":${m.chainId},"per_tx_cap_usdc":11}`
    const at = seconds()
    const raw = keccak256(concat([stringToHex(body), numberToHex(at, { size: 8 })]))
    const headers = {
      'x-agent-timestamp': String(at),
      'x-agent-signature': await personally(owner, raw),
      // No header can name the caller.
      'x-agent-address': other.address,
    }
    expect((await m.call('POST', '/v1/spending-limits', { body, headers })).status).toBe(200)
    expect((await readCap({ as: owner })).body.per_tx_cap_usdc).toBe(11)
    expect((await readCap({ as: other })).status).toBe(404)
  })

  it('is not signed over another form of the timestamp [AUTH-05]', async () => {
    const body = JSON.stringify({ agent_id: agentId })
    const at = seconds()
    const bytes = numberToHex(at, { size: 8 })
    const littleEndian = concat([7, 6, 5, 4, 3, 2, 1, 0].map((from) => slice(bytes, from, from + 1)))
    const forms: Hex[] = [
      stringToHex(String(at)),
      littleEndian,
      numberToHex(at, { size: 4 }),
      numberToHex(at, { size: 32 }),
    ]
    for (const form of forms) {
      const raw = keccak256(concat([stringToHex(body), form]))
      const headers = { 'x-agent-timestamp': String(at), 'x-agent-signature': await personally(owner, raw) }
      // The recovered signer is another account, which does not own the agent.
      expect(await m.call('POST', '/v1/agent/register', { body, headers })).toMatchObject({
        status: 403,
        body: { error: 'caller does not own this agent' },
      })
    }
  })

  it('is a personal signature: the bare hash signed is somebody else’s [AUTH-04]', async () => {
    const body = JSON.stringify({ agent_id: agentId })
    const at = seconds()
    const hash = keccak256(concat([stringToHex(body), numberToHex(at, { size: 8 })]))
    const signature = await owner.sign?.({ hash })
    const headers = { 'x-agent-timestamp': String(at), 'x-agent-signature': String(signature) }
    expect((await m.call('POST', '/v1/agent/register', { body, headers })).status).toBe(403)
  })

  it('covers the exact bytes of the body: the same JSON spelled otherwise is not the caller’s [AUTH-12]', async () => {
    const body = JSON.stringify({ agent_id: agentId })
    const headers = await signatureHeaders(owner, body, seconds())
    for (const changed of [`${body} `, `\n${body}`, body.replace(':', ': ')]) {
      expect((await m.call('POST', '/v1/agent/register', { body: changed, headers })).status).toBe(403)
    }
  })

  it('signs the very body that it sends, not none and not that of another request [AUTH-13]', async () => {
    const body = JSON.stringify({ agent_id: agentId })
    for (const signed of ['', JSON.stringify({ agent_id: agentId + 1 })]) {
      const headers = await signatureHeaders(owner, signed, seconds())
      expect((await m.call('POST', '/v1/agent/register', { body, headers })).status).toBe(403)
    }
  })

  it('takes a body of any bytes for what they are', async () => {
    const body = Buffer.from([0xff, 0x00, 0xfe])
    expect(await m.call('POST', '/v1/spending-limits', { as: owner, body })).toMatchObject({
      status: 400,
      body: { error: 'invalid body' },
    })
  })

  it('takes 0 and 1 in the place of 27 and 28', async () => {
    const headers = await signatureHeaders(owner, '', seconds())
    const signature = headers['x-agent-signature'] as Hex
    const v = Number(slice(signature, 64)) - 27
    headers['x-agent-signature'] = concat([slice(signature, 0, 64), numberToHex(v, { size: 1 })])
    expect((await readCap({ headers })).body.per_tx_cap_usdc).toBe(11)
  })

  it('is refused with the other signature that the curve allows, of a high s [AUTH-38]', async () => {
    const headers = await signatureHeaders(owner, '', seconds())
    const signature = headers['x-agent-signature'] as Hex
    const s = SECP256K1_ORDER - hexToBigInt(slice(signature, 32, 64))
    const v = Number(slice(signature, 64)) === 27 ? 28 : 27
    headers['x-agent-signature'] = concat([
      slice(signature, 0, 32),
      numberToHex(s, { size: 32 }),
      numberToHex(v, { size: 1 }),
    ])
    expect(await readCap({ headers })).toMatchObject(refused('bad signature'))
  })

  it.each([
    ['nothing', ''],
    ['no hex', 'signature'],
    ['the prefix alone', '0x'],
    ['64 bytes', `0x${'11'.repeat(64)}`],
    ['66 bytes', `0x${'11'.repeat(66)}`],
    ['zeros', `0x${'00'.repeat(65)}`],
    ['a v that is none', `0x${'11'.repeat(64)}1d`],
    ['digits that are none', `0x${'zz'.repeat(65)}`],
    ['an r beyond the curve', `0x${'ff'.repeat(32)}${'11'.repeat(32)}1b`],
    ['ten thousand digits', `0x${'11'.repeat(5_000)}`],
  ])('is refused with %s for a signature [AUTH-38]', async (_, signature) => {
    const headers = { 'x-agent-timestamp': String(seconds()), 'x-agent-signature': signature }
    expect(await readCap({ headers })).toMatchObject(refused('bad signature'))
  })

  it('is refused with a signature that has lost its prefix', async () => {
    const headers = await signatureHeaders(owner, '', seconds())
    headers['x-agent-signature'] = headers['x-agent-signature']?.slice(2) ?? ''
    expect(size(`0x${headers['x-agent-signature']}`)).toBe(65)
    expect(await readCap({ headers })).toMatchObject(refused('bad signature'))
  })

  it.each(['abc', '', '1.5', '-5', '0x68e0a3f0', '1e9', '99999999999999999999999', ' ', 'NaN'])(
    'is refused with the timestamp %j [AUTH-39]',
    async (timestamp) => {
      const { 'x-agent-signature': signature = '' } = await signatureHeaders(owner, '', seconds())
      const headers = { 'x-agent-timestamp': timestamp, 'x-agent-signature': signature }
      expect(await readCap({ headers })).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    },
  )

  it('may be a minute old and no older [AUTH-08, AUTH-10]', async () => {
    nowMs = Date.now()
    expect((await readCap({ as: owner, timestamp: seconds() - 55 })).status).toBe(200)
    expect((await readCap({ as: owner, timestamp: seconds() - 60 })).status).toBe(200)
    expect(await readCap({ as: owner, timestamp: seconds() - 61 })).toMatchObject(
      refused('timestamp out of range'),
    )
  })

  it('may be a minute ahead and no more [AUTH-09, AUTH-10]', async () => {
    nowMs = Date.now()
    expect((await readCap({ as: owner, timestamp: seconds() + 55 })).status).toBe(200)
    expect((await readCap({ as: owner, timestamp: seconds() + 60 })).status).toBe(200)
    expect(await readCap({ as: owner, timestamp: seconds() + 61 })).toMatchObject(
      refused('timestamp out of range'),
    )
  })

  it('that reads signs the timestamp alone, whatever its path and query [AUTH-06]', async () => {
    const at = seconds()
    const raw = keccak256(numberToHex(at, { size: 8 }))
    const headers = { 'x-agent-timestamp': String(at), 'x-agent-signature': await personally(owner, raw) }
    expect((await readCap({ headers })).status).toBe(200)
    expect((await m.call('GET', `/v1/spending-limits?x=1&chain_id=${m.chainId}`, { headers })).status).toBe(
      200,
    )
    expect((await m.call('GET', `/v1/review-rank/${agentId}`, { headers })).status).toBe(200)
  })

  it('that reads may be sent along with others of the same second [AUTH-40]', async () => {
    const at = seconds()
    const paths = ['earnings', 'escrows', 'context', 'earnings'].map((of) => `/v1/agent/${agentId}/${of}`)
    const answers = await Promise.all(paths.map((path) => m.call('GET', path, { as: owner, timestamp: at })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  it('that reads signs the timestamp alone even when it carries a body', async () => {
    const signed = Object.entries(await signatureHeaders(owner, '', seconds()))
    const path = `/v1/spending-limits?chain_id=${m.chainId}`
    const answer = await rawCallerOf(m.service.url)({ method: 'GET', path, headers: signed, body: '{"a":1}' })
    expect(answer.status).toBe(200)
  })

  it('may ask for the head alone', async () => {
    const answer = await m.call('HEAD', `/v1/spending-limits?chain_id=${m.chainId}`, { as: owner })
    expect(answer).toMatchObject({ status: 200, text: '' })
    expect((await m.call('HEAD', `/v1/spending-limits?chain_id=${m.chainId}`)).status).toBe(401)
  })

  it('is refused when a header comes twice', async () => {
    const call = rawCallerOf(m.service.url)
    const signed = Object.entries(await signatureHeaders(owner, '', seconds()))
    const path = `/v1/spending-limits?chain_id=${m.chainId}`
    expect((await call({ method: 'GET', path, headers: signed })).status).toBe(200)
    expect(signed.map(([name]) => name.toLowerCase()).sort()).toEqual([
      'x-agent-signature',
      'x-agent-timestamp',
    ])
    for (const twice of signed) {
      expect((await call({ method: 'GET', path, headers: [...signed, twice] })).status).toBe(401)
    }
  })

  it('is refused before anything else is looked at [AUTH-38]', async () => {
    expect(await m.call('GET', '/v1/spending-limits?chain_id=nonsense')).toMatchObject({ status: 401 })
    expect(await m.call('POST', '/v1/spending-limits', { body: 'nonsense' })).toMatchObject({ status: 401 })
    expect(await m.call('GET', '/v1/agent/nonsense/earnings')).toMatchObject({ status: 401 })
  })
})

describe('owners', () => {
  it('POST /v1/agent/register is for the owner of the identity [AUTH-14]', async () => {
    const body = { agent_id: agentId }
    expect(await m.call('POST', '/v1/agent/register', { as: other, body })).toMatchObject({
      status: 403,
      body: { error: 'caller does not own this agent' },
    })
  })

  it('POST /v1/proof is for the owner of the agent [AUTH-15]', async () => {
    const body = {
      agent_id: agentId,
      merchant_id: merchantId,
      product_id: productOf(1),
      proof_data: { receipt: 1 },
    }
    expect(await m.call('POST', '/v1/proof', { as: other, body })).toMatchObject({
      status: 403,
      body: { error: 'caller does not own this agent' },
    })
    expect((await m.call('POST', '/v1/proof', { as: owner, body })).status).toBe(201)
  })

  it('POST /v1/merchant/register is for the owner of the identity [AUTH-16]', async () => {
    const body = { merchant_id: merchantId }
    expect(await m.call('POST', '/v1/merchant/register', { as: other, body })).toMatchObject({
      status: 403,
      body: { error: 'caller does not own this merchant' },
    })
  })

  describe('are not asked for by the other signed routes', () => {
    const content = generic(5, 'Quick and right')
    let product: Product
    let reviewId: bigint
    let buyerAgentId: bigint
    let escrow: EscrowDeposit

    beforeAll(async () => {
      const { buyer } = m.market.accounts
      product = { merchantId: BigInt(merchantId), productId: productOf(1) }
      const written = { agentId: BigInt(agentId), product, content, proofId: 41n }
      ;({ reviewId } = await publishReview(m, owner, written))
      buyerAgentId = await registerIdentity(m.market, buyer)
      await mintUsdc(m.market, buyer.address, 1_000_000n)
      const bought = { product, reviewId, reviewerAgentId: BigInt(agentId), buyerAgentId }
      escrow = await buy(m, buyer, { ...bought, cashbackOfCommissionBps: 500 })
      await m.indexed()
    })

    const readByOther = async (path: string) => {
      expect((await m.call('GET', path)).status).toBe(401)
      const { status, body } = await m.call('GET', path, { as: other })
      expect(status, path).toBe(200)
      return body
    }

    it('a proof is shown to everybody who signs [AUTH-18 otherwise, AUTH-41]', async () => {
      const body = {
        agent_id: agentId,
        merchant_id: merchantId,
        product_id: productOf(1),
        proof_data: { a: 1 },
      }
      const { proof_id } = (await m.call('POST', '/v1/proof', { as: owner, body })).body
      expect(await readByOther(`/v1/proof/${proof_id}?agent_id=${agentId}`)).toEqual({ status: 'pending' })
    })

    it('what an agent did, earned and has in escrow is shown to everybody who signs [AUTH-18 otherwise, AUTH-41]', async () => {
      const of = (id: number | bigint, what: string) => readByOther(`/v1/agent/${id}/${what}`)
      expect(await of(agentId, 'context')).toMatchObject({
        counts: { reviews_authored: 1 },
      })
      expect(await of(buyerAgentId, 'context')).toMatchObject({ counts: { review_backlog: 1 } })
      expect((await of(agentId, 'reviewable')).products).toMatchObject([{ product_id: product.productId }])
      expect((await of(buyerAgentId, 'reviewable?needs_review=true')).products).toMatchObject([
        { product_id: product.productId, escrow_id: Number(escrow.escrowId) },
      ])
      expect((await of(agentId, 'earnings')).commission.total_potential).toBeGreaterThan(0)
      for (const id of [agentId, buyerAgentId]) {
        const { escrows } = await of(id, 'escrows')
        expect(escrows).toMatchObject([{ escrow_id: Number(escrow.escrowId) }])
        const status = await readByOther(`/v1/escrow/${escrow.escrowId}/status?agent_id=${id}`)
        expect(status).toMatchObject({ escrow_id: Number(escrow.escrowId), state: 'holding' })
      }
      expect(await readByOther(`/v1/review-rank/${agentId}`)).toMatchObject({ flagged: false })
    })

    it('the text of a review is taken from everybody who signs [AUTH-41]', async () => {
      const { buyer } = m.market.accounts
      const register = (review_id: number, escrow_id: number) =>
        m.call('POST', '/v1/review/register', {
          as: other,
          body: { review_id, escrow_id, content_json: content },
        })
      const unread = { agentId: BigInt(agentId), product, content, proofId: 42n }
      const reviewed = Number((await publishWithProof(m.market, owner, unread)).reviewId)
      const contentHash = ContentHash.contentHash({ agentId: buyerAgentId, ...product, content })
      const terms = [m.market.addresses.CommissionEscrow, escrowTerms(escrow), contentHash]
      const { logs } = await send(m, contractCall(m, buyer, 'ReviewRegistry', 'publishWithEscrow', terms))
      const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
      await m.indexed()
      expect(await register(reviewed, 0)).toMatchObject({ status: 200 })
      // The review is registered already, so a repeated registration does not check the caller either.
      expect(await register(reviewed, 0)).toMatchObject({ status: 200 })
      expect(await register(Number(event?.args.reviewId), Number(escrow.escrowId))).toMatchObject({
        status: 200,
        body: { status: 'buyer_review_registered' },
      })
    })

    it('what needs a record says that there is none, not that the caller may not [AUTH-41]', async () => {
      const none = { status: 404, body: { error: 'not found' } }
      const path = `/v1/escrow/12345/status?agent_id=${agentId}`
      expect(await m.call('GET', path, { as: other })).toMatchObject(none)
      const body = { review_id: 12345, escrow_id: 0, content_json: content }
      expect(await m.call('POST', '/v1/review/register', { as: other, body })).toMatchObject(none)
    })
  })
})

describe('what belongs to a wallet', () => {
  it('is refused to whoever does not say who they are [AUTH-20]', async () => {
    expect(await readCap({})).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    expect(await setCap(1, {})).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
  })

  it('is one wallet’s, whichever way and in whatever letters it says so [AUTH-19]', async () => {
    expect((await setCap(21, { as: owner })).status).toBe(200)
    expect((await readCap({ token: await tokenOf(owner) })).body.per_tx_cap_usdc).toBe(21)
    const rows = await m.sql<{ owner: string }[]>`
      SELECT encode(owner, 'hex') AS owner FROM market.spending_limits
      WHERE owner = decode(${owner.address.slice(2)}, 'hex')`
    expect(rows.map((row) => row.owner)).toEqual([owner.address.slice(2).toLowerCase()])
  })
})
