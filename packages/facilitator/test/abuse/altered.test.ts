// Anybody may have the router settle a payment whose nonce commits to its terms, and the buyer chooses what it commits to.
import { Attribution, type AttributionToken } from '@referrer/protocol'
import { numberToHex } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { act, settlement } from './acts.ts'

let m: TestFacilitator
let salts = 0

beforeAll(async () => {
  m = await startTestFacilitator()
})
afterAll(() => m?.close())

/** The buyer settles the purchase on these terms, and then pays a shop with the same authorisation as if its nonce were by chance. */
async function settledByBuyer(change: Partial<AttributionToken.Terms>): Promise<Body> {
  salts += 1
  const salt = numberToHex(salts, { size: 32 })
  const terms = { ...m.till.terms, ...change }
  const body = await m.payload(await m.newBuyer(), { salt, terms, type: 'TransferWithAuthorization' })
  const deed = settlement(m, body, 1)
  const [, purchase] = deed.call as [string, object]
  await act(m, { ...deed, call: ['settle', { ...purchase, attribution: Attribution.from(terms, { salt }) }] })
  const { attributionSalt: _withheld, ...extensions } = body.paymentPayload.extensions
  return { ...body, paymentPayload: { ...body.paymentPayload, extensions } }
}

it.each([
  [
    'a smaller commission',
    { commissionMultiplierBps: 4_000 },
    'a commission of 80000 and a cashback of 8000',
  ],
  ['a larger cashback', { cashbackOfCommissionBps: 4_000 }, 'a commission of 200000 and a cashback of 80000'],
])('what a buyer settled with %s than the link gives is not taken for paid', async (_what, change, told) => {
  const body = await settledByBuyer(change)
  expect((await m.verify(body)).body).toMatchObject({ isValid: false, invalidReason: 'invalid_payment' })
  const answer = (await m.settle(body)).body
  expect(answer).toMatchObject({ success: false, errorReason: 'invalid_payment', transaction: '' })
  expect(answer).not.toHaveProperty('retryable')
  expect(answer.errorMessage).toContain(told)
  expect(answer.errorMessage).toContain("the link's are 200000 and 20000")
  expect((await m.settle(body)).body).toMatchObject({ success: false })
})

it('what a buyer settled on the terms of the link is taken for paid, once', async () => {
  const body = await settledByBuyer({})
  expect((await m.settle(body)).body).toMatchObject({ success: true })
  expect((await m.settle(body)).body).toMatchObject({
    success: false,
    errorMessage: 'authorization already used',
  })
})
