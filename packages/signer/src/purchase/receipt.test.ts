import { X402 } from '@referrer/protocol'
import { expect, it } from 'vitest'
import { receiptIn } from './receipt.ts'

const receipt = { format: 'jws', signature: 'e30.e30.AA' }
const settled = (of: unknown) => ({
  success: true,
  extensions: { 'offer-receipt': { info: { receipt: of } } },
})
const answered = (header: unknown, body: unknown) =>
  receiptIn({
    status: 200,
    headers:
      header === undefined ? {} : { 'payment-response': X402.encodeHeader(header as object, 'standard') },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  })

it('is found in the header, before the body', () => {
  expect(answered(settled(receipt), settled({ ...receipt, format: 'eip712' }))).toEqual(receipt)
  expect(answered(settled(receipt), 'a picture')).toEqual(receipt)
})

it('is found in the body of an answer without one in the header', () => {
  expect(answered(undefined, settled(receipt))).toEqual(receipt)
  expect(answered({ success: true }, settled(receipt))).toEqual(receipt)
})

it.each([
  ['no object', 'signed, the shop'],
  ['without a signature', { format: 'jws' }],
  ['larger than 16 KiB', { ...receipt, payload: 'x'.repeat(16_384) }],
  ['missing', undefined],
])('is not taken when it is %s', (_, of) => {
  expect(answered(undefined, settled(of))).toBeUndefined()
})
