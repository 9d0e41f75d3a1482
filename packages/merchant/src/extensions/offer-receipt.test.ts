import type { X402 } from '@referrer/protocol'
import { expect, it } from 'vitest'
import { readReceipts } from './offer-receipt.ts'

const requirements: X402.PaymentRequirements.PaymentRequirements = {
  scheme: 'exact',
  network: 'eip155:1',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  amount: '1',
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
}

it('signs 600 different offers in a minute, and leaves the others without a signature', async () => {
  let signed = 0
  const signer = { kid: 'did:web:shop.test#key-1', algorithm: 'ES256', sign: async () => `${++signed}` }
  const issuer = readReceipts({ format: 'jws', signer })
  const offerOf = (page: number, now: number) =>
    issuer.offer({ resourceUrl: `http://shop.test/?page=${page}`, requirements }, now)
  for (let page = 0; page < 600; page++) expect(await offerOf(page, 0)).toBeDefined()
  expect(await offerOf(600, 59_000)).toBeUndefined()
  // What is signed already is given on.
  expect(await offerOf(599, 59_000)).toBeDefined()
  expect(signed).toBe(600)
  expect(await offerOf(600, 60_000)).toBeDefined()
})

it('asks a signer again that has failed', async () => {
  const answers = [Promise.reject(new Error('KMS is down')), Promise.resolve('signed')]
  const signer = {
    kid: 'did:web:shop.test#key-1',
    algorithm: 'ES256',
    sign: () => answers.shift() as Promise<string>,
  }
  const issuer = readReceipts({ format: 'jws', signer })
  const ask = () => issuer.offer({ resourceUrl: 'http://shop.test/', requirements }, 0)
  await expect(ask()).rejects.toThrow('KMS is down')
  expect(await ask()).toBeDefined()
})
