import { expect, it } from 'vitest'
import { forgetPayment, keepPayment, loadPayment, type SignedPayment } from './signed-payments.ts'

function memory(): Storage {
  const kept = new Map<string, string>()
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
    key: (at: number) => [...kept.keys()][at] ?? null,
  } as unknown as Storage
}

const key = { chainId: 31337, payer: '0xAb', merchantId: 1, productId: '0xCD' }
const payment: SignedPayment = {
  chainId: 31337,
  payer: '0xAb',
  token: 'token',
  query: { city: 'Tokyo' },
  amount: '10000',
  nonce: '0x12',
  validBefore: 1_800_000_000,
  header: 'abc',
}

it('keeps a signed payment for its payer and product until it is forgotten', () => {
  const storage = memory()
  expect(loadPayment(storage, key)).toBeUndefined()
  keepPayment(storage, key, payment)
  expect(loadPayment(storage, { ...key, payer: '0xaB' })).toEqual(payment)
  expect(loadPayment(storage, { ...key, payer: '0xac' })).toBeUndefined()
  expect(loadPayment(storage, { ...key, merchantId: 2 })).toBeUndefined()
  forgetPayment(storage, key)
  expect(loadPayment(storage, key)).toBeUndefined()
})

it.each(['{', 'null', '[]', '{"payer":"0xAb"}', JSON.stringify({ ...payment, validBefore: '1' })])(
  'takes nothing that is not a whole payment: %s',
  (text) => {
    const storage = memory()
    keepPayment(storage, key, payment)
    storage.setItem(storage.key(0) as string, text)
    expect(loadPayment(storage, key)).toBeUndefined()
  },
)
