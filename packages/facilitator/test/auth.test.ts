import { confirmed, openMerchant } from '@referrer/contracts/local'
import { RequestSignature } from '@referrer/protocol'
import { identityRegistryAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Address, keccak256, type LocalAccount, stringToBytes } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Facilitator } from '../src/facilitator.ts'
import { type Books, openBooks } from './abuse/books.ts'
import { type Ask, send } from './asking.ts'
import { startTestFacilitator, type TestFacilitator } from './harness.ts'
import type { Body } from './payloads.ts'
import { FAULTS, withRegistry } from './registry.ts'

let m: TestFacilitator
let books: Books
let buyer: LocalAccount
let hotKey: LocalAccount
beforeAll(async () => {
  m = await startTestFacilitator()
  books = await openBooks(m)
  buyer = await m.newBuyer()
  hotKey = await m.newBuyer(0n)
})
afterAll(() => m?.close())
afterEach(() => {
  m.nodes.intercept = undefined
  return books.audit()
})

const now = () => Math.floor(Date.now() / 1_000)

/** The status and body of both routes, which must agree on who may ask. */
async function ask(body: Body | string, ask: Omit<Ask, 'body'>) {
  const [verify, settle] = [await m.verify(body, ask), await m.settle(body, ask)]
  expect(verify.status).toBe(settle.status)
  if (settle.status !== 200) expect(verify.body.error).toEqual(settle.body.error)
  return { status: settle.status, body: settle.body }
}

describe('a request', () => {
  test('needs no signature', async () => {
    expect((await m.settle(await m.payload(buyer))).body.success).toBe(true)
  })

  test('signed by the owner of the merchant is settled', async () => {
    const answer = await m.settle(await m.payload(buyer), { as: m.merchant.account })
    expect(answer.body.success).toBe(true)
  })

  test('signed by anybody else is refused, and nothing is settled', async () => {
    const body = await m.payload(buyer)
    expect(await ask(body, { as: buyer })).toMatchObject({
      status: 403,
      body: { error: 'caller may not settle for this merchant' },
    })
    expect((await m.settle(body)).body.success).toBe(true)
  })

  test('signed by whom the owner trusts is settled at once, and not for a moment longer', async () => {
    const body = await m.payload(buyer)
    const statusNow = async () => (await ask(await m.payload(buyer), { as: hotKey })).status
    expect((await m.settle(body, { as: hotKey })).status).toBe(403)
    await setRole('grantRole', hotKey.address)
    expect((await m.settle(body, { as: hotKey })).body.success).toBe(true)
    await setRole('revokeRole', hotKey.address)
    expect(await statusNow()).toBe(403)
    await setRole('grantRole', hotKey.address)
    expect(await statusNow()).toBe(200)
    await setRole('revokeRole', hotKey.address)
    expect(await statusNow()).toBe(403)
  })

  test('is its new owner’s to sign as soon as the merchant changes hands', async () => {
    const { stranger } = m.market.accounts
    const [seller, merchantId] = [m.merchant.account, await openMerchant(m.market, m.merchant.account)]
    const attributionToken = await m.mint({ merchantId: Number(merchantId) })
    const mayAsk = async (as: LocalAccount) =>
      (await m.verify(await m.payload(buyer, { attributionToken }), { as })).status === 200
    expect([await mayAsk(seller), await mayAsk(stranger)]).toEqual([true, false])
    const hash = await m.market.client.writeContract({
      account: seller,
      address: m.market.addresses.IdentityRegistry,
      abi: identityRegistryAbi,
      functionName: 'transferFrom',
      args: [seller.address, stranger.address, merchantId],
    })
    await confirmed(m.market, hash)
    expect([await mayAsk(seller), await mayAsk(stranger)]).toEqual([false, true])
  })

  test('signed by another merchant, or by whom that one trusts, is refused', async () => {
    const { stranger } = m.market.accounts
    const otherMerchant = await openMerchant(m.market, stranger)
    const trusted = await m.newBuyer(0n)
    await setRole('grantRole', trusted.address, { account: stranger, merchantId: otherMerchant })
    const body = await m.payload(buyer)
    for (const as of [stranger, trusted]) expect((await ask(body, { as })).status).toBe(403)
  })

  test('is told to come again while the identity registry does not answer', async () => {
    const body = await m.payload(buyer)
    for (const [, code] of FAULTS)
      await withRegistry(m, code, async () =>
        expect(await ask(body, { as: m.merchant.account })).toMatchObject({
          status: 200,
          body: { success: false, errorReason: 'settle_failed', retryable: true },
        }),
      )
    expect((await m.settle(body, { as: m.merchant.account })).body.success).toBe(true)
  })

  test('signed by whom the owner gave another role is refused', async () => {
    const other = await m.newBuyer(0n)
    await setRole('grantRole', other.address, { role: 'SETTLER_ROLE' })
    expect((await ask(await m.payload(buyer), { as: other })).status).toBe(403)
  })

  test('asks the chain one thing at a time about all signers, however many strangers sign', async () => {
    const strangers = await Promise.all(Array.from({ length: 30 }, () => m.newBuyer(0n)))
    const body = await m.payload(buyer)
    let [now, most] = [0, 0]
    const counting: typeof fetch = async (input, init) => {
      const isAsking = isPermission(String(init?.body))
      if (isAsking) now += 1
      most = Math.max(most, now)
      try {
        return await fetch(input, init)
      } finally {
        if (isAsking) now -= 1
      }
    }
    const other = await m.startAnother({}, { fetch: counting })
    try {
      const statuses = strangers.map(
        async (as) => (await send(other.url, 'POST', '/verify', { body, as })).status,
      )
      expect(new Set(await Promise.all(statuses))).toEqual(new Set([403]))
      expect(most).toBe(1)
    } finally {
      await other.stop()
    }
  })

  test.each([
    ['without its signature', { 'x-agent-timestamp': '1' }, 'signature required'],
    ['without its timestamp', { 'x-agent-signature': '0x12' }, 'signature required'],
    [
      'with a timestamp that is none',
      { 'x-agent-timestamp': 'x', 'x-agent-signature': '0x12' },
      'bad timestamp',
    ],
    [
      'with a signature that is none',
      { 'x-agent-timestamp': String(now()), 'x-agent-signature': '0x12' },
      'bad signature',
    ],
  ])('%s is refused', async (_, headers, detail) => {
    const answer = await ask(await m.payload(buyer), { headers })
    expect(answer).toMatchObject({ status: 401, body: { error: 'unauthorized', detail } })
  })

  test('whose signature is more than a minute old or ahead is refused', async () => {
    const body = await m.payload(buyer)
    for (const timestamp of [now() - 90, now() + 90]) {
      expect(await ask(body, { as: m.merchant.account, timestamp })).toMatchObject({
        status: 401,
        body: { error: 'unauthorized', detail: 'timestamp out of range' },
      })
    }
  })

  test('whose signature is less than a minute old or ahead counts', async () => {
    const body = await m.payload(buyer)
    for (const timestamp of [now() - 20, now() + 50]) {
      expect((await m.verify(body, { as: m.merchant.account, timestamp })).body.isValid).toBe(true)
    }
  })

  test('of a merchant that there is not is refused: nobody owns it', async () => {
    const attributionToken = await m.mint({ merchantId: 987_654 })
    const body = await m.payload(buyer, { attributionToken })
    expect((await ask(body, { as: m.merchant.account })).status).toBe(403)
  })

  test('is refused for its payment before its signer is asked about', async () => {
    const body = await m.payload(buyer, { value: 1n })
    expect(await ask(body, { as: buyer })).toMatchObject({
      status: 200,
      body: { success: false, errorReason: 'invalid_payment' },
    })
  })

  test('whose body was altered on the way is not the signer’s any more', async () => {
    const body = JSON.stringify(await m.payload(buyer))
    const timestamp = String(now())
    const { signature } = await RequestSignature.sign(m.merchant.account, body, Number(timestamp))
    const headers = { 'x-agent-timestamp': timestamp, 'x-agent-signature': signature }
    expect((await ask(`${body} `, { headers })).status).toBe(403)
    expect((await m.settle(body, { headers })).body.success).toBe(true)
  })

  test('can be sent again when no node tells who may settle', async () => {
    const body = await m.payload(buyer)
    m.nodes.intercept = (call) => (isPermission(call) ? 'refuse' : 'pass')
    const signed = { as: m.merchant.account }
    const answer = await m.settle(body, signed)
    expect(answer.body).toMatchObject({ success: false, errorReason: 'settle_failed', retryable: true })
    m.nodes.intercept = undefined
    expect((await m.verify(body, signed)).body.isValid).toBe(true)
  })
})

describe('where signatures are required', () => {
  let strict: Facilitator
  let lenient: Facilitator
  beforeAll(async () => {
    lenient = m.facilitator
    strict = await m.startAnother({ SETTLEMENT_AUTH: 'required' })
    m.facilitator = strict
  })
  afterAll(async () => {
    m.facilitator = lenient
    await strict.stop()
  })

  test('an unsigned request is refused, and a signed one is settled', async () => {
    const body = await m.payload(buyer)
    expect(await ask(body, {})).toMatchObject({
      status: 401,
      body: { error: 'unauthorized', detail: 'signature required' },
    })
    expect((await m.settle(body, { as: m.merchant.account })).body.success).toBe(true)
  })

  test('whom the owner trusts settles too, and a stranger does not', async () => {
    const trusted = await m.newBuyer(0n)
    await setRole('grantRole', trusted.address)
    const body = await m.payload(buyer)
    expect((await ask(body, { as: buyer })).status).toBe(403)
    expect((await m.settle(body, { as: trusted })).body.success).toBe(true)
  })

  test('nobody has to sign what moves no merchant’s payment', async () => {
    const { nonce } = (await m.payload(buyer)).paymentPayload.payload.authorization
    expect((await m.call('GET', '/supported')).status).toBe(200)
    expect((await m.call('GET', `/settlements/${buyer.address}/${nonce}`)).status).toBe(200)
    const charge = await m.call('POST', '/mpp/charge', { body: {} })
    expect(charge.body).toMatchObject({ success: false, errorReason: 'invalid_payment' })
  })
})

/** Whether a call asks who may settle for a merchant. */
const isPermission = (call: string) =>
  call.includes(keccak256(stringToBytes('SETTLEMENT_SIGNER_ROLE')).slice(2))

interface Role {
  account: LocalAccount
  merchantId: bigint
  role: string
}

async function setRole(
  functionName: 'grantRole' | 'revokeRole',
  holder: Address,
  {
    account = m.merchant.account,
    merchantId = m.merchant.merchantId,
    role = 'SETTLEMENT_SIGNER_ROLE',
  }: Partial<Role> = {},
): Promise<void> {
  const hash = await m.market.client.writeContract({
    account,
    address: m.market.addresses.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName,
    args: [merchantId, keccak256(stringToBytes(role)), holder],
  })
  await confirmed(m.market, hash)
}
