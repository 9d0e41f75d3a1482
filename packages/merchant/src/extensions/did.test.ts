import type { KeyObject } from 'node:crypto'
import { extractPublicKeyFromKid } from '@x402/extensions/offer-receipt'
import { exportJWK, generateKeyPair } from 'jose'
import { expect, it } from 'vitest'
import { didKeyOf, publicPart, type ReceiptKey, receiptDidDocument } from './did.ts'

async function keyOf(algorithm: 'EdDSA' | 'ES256'): Promise<ReceiptKey> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return (await exportJWK(privateKey)) as ReceiptKey
}

it('did:key is what the official package resolves to the same key, with an even and with an odd y', async () => {
  const parities = new Set<number>()
  const keys = [await keyOf('EdDSA')]
  while (parities.size < 2) {
    const key = await keyOf('ES256')
    parities.add((Buffer.from(key.y ?? '', 'base64url').at(-1) ?? 0) % 2)
    keys.push(key)
  }
  for (const key of keys) {
    const { jwk } = publicPart(key)
    const kid = didKeyOf(jwk)
    expect(kid).toMatch(/^did:key:(z\w+)#\1$/)
    const resolved = (await extractPublicKeyFromKid(kid)) as unknown as KeyObject
    expect(resolved.export({ format: 'jwk' })).toEqual(jwk)
  }
})

it('the document of a did:web has no secret in it', async () => {
  const key = await keyOf('ES256')
  const document = receiptDidDocument('did:web:shop.test:jokes#key-1', key)
  expect(document).toMatchObject({
    id: 'did:web:shop.test:jokes',
    verificationMethod: [{ id: 'did:web:shop.test:jokes#key-1', controller: 'did:web:shop.test:jokes' }],
  })
  expect(JSON.stringify(document)).not.toContain(key.d)
  for (const kid of ['did:web:shop.test', 'did:key:z6Mk#z6Mk', 'shop.test#key-1']) {
    expect(() => receiptDidDocument(kid, key)).toThrow('kid must be a did:web with a fragment')
  }
})
