import { createPublicKey, verify as nodeVerify } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { codeOf, expectOnlyProtocolErrors, hostileText } from '../test/hostile.ts'
import { terms, vector } from '../test/token.ts'
import * as AttestationKey from './attestation-key.ts'
import * as AttributionToken from './attribution-token.ts'

let key: AttestationKey.SigningKey
let ring: AttestationKey.KeyRing

beforeAll(async () => {
  key = await AttestationKey.signingKey(vector.seed)
  ring = await AttestationKey.keyRing(key.attestationPubKey)
})

/** A token with this payload text and a genuine signature over it. */
async function signText(text: string): Promise<string> {
  const payload = Buffer.from(text)
  return Buffer.concat([payload, await key.sign(payload)]).toString('base64url')
}

const payloadText = () => JSON.stringify(AttributionToken.decodeUnverified(vector.token))
const verifyText = (text: string) => codeOf(async () => AttributionToken.verify(await signText(text), ring))

describe('attribution token', () => {
  test('matches the vector: key, token and hash', async () => {
    expect(key.attestationPubKey).toBe(vector.attestationPubKey)
    expect(await AttributionToken.mint(terms, key)).toBe(vector.token)
    expect(AttributionToken.tokenHash(vector.token)).toBe(vector.tokenHash)
  })

  test('is unpadded base64url of the payload and a 64-byte Ed25519 signature over its bytes [AUTH-30]', () => {
    const bytes = Buffer.from(vector.token, 'base64url')
    const x = Buffer.from(vector.attestationPubKey, 'hex').toString('base64url')
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    expect(vector.token).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(nodeVerify(null, bytes.subarray(0, -64), publicKey, bytes.subarray(-64))).toBe(true)
  })

  test('carries its version first, the terms, and the id of its key [AUTH-33] [AUTH-34] [AUTH-35] [AUTH-36] [AUTH-37]', () => {
    const text = Buffer.from(vector.token, 'base64url').subarray(0, -64).toString()
    expect(text).toBe(JSON.stringify({ v: 4, ...terms, kid: vector.attestationPubKey.slice(0, 16) }))
    expect(text.startsWith('{"v":4,"chainId":84532,"splitRouter":')).toBe(true)
  })

  test('verifies to the terms that were minted, whatever they are', async () => {
    const bounded = (max: number, min = 0) => fc.integer({ min, max })
    const anyTerms = fc.record({
      ...Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, fc.constant(value)])),
      chainId: bounded(Number.MAX_SAFE_INTEGER, 1),
      merchantEndpoint: fc.webUrl({ withQueryParameters: true }),
      merchantId: fc.maxSafeNat(),
      reviewId: fc.maxSafeNat(),
      reviewerAgentId: fc.maxSafeNat(),
      cashbackOfCommissionBps: bounded(4000),
      commissionMultiplierBps: bounded(10_000, 4000),
      issuedAt: fc.maxSafeNat(),
    }) as fc.Arbitrary<AttributionToken.Terms>
    await fc.assert(
      fc.asyncProperty(anyTerms, async (given) => {
        const token = await AttributionToken.mint(given, key)
        expect(await AttributionToken.verify(token, ring)).toEqual({ v: 4, ...given, kid: key.kid })
        expect(AttributionToken.decodeUnverified(token)).toEqual({ v: 4, ...given, kid: key.kid })
      }),
    )
  })

  test('fails to verify once any character is changed', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    await fc.assert(
      fc.asyncProperty(fc.nat(vector.token.length - 1), fc.constantFrom(...alphabet), async (at, char) => {
        fc.pre(vector.token[at] !== char)
        const altered = vector.token.slice(0, at) + char + vector.token.slice(at + 1)
        expect(typeof (await codeOf(() => AttributionToken.verify(altered, ring)))).toBe('string')
      }),
      { numRuns: 300 },
    )
  })

  test('fails under another key that claims the same id', async () => {
    const other = await AttestationKey.signingKey(new Uint8Array(32).fill(2))
    const forged = await AttributionToken.mint(terms, { ...other, kid: key.kid })
    expect(await codeOf(() => AttributionToken.verify(forged, ring))).toBe('bad_token_signature')
  })

  test('is refused in any other version, even when signed', async () => {
    expect(await verifyText(payloadText().replace('"v":4', '"v":3'))).toBe('unsupported_version')
    expect(await verifyText(payloadText().replace('"v":4', '"v":"4"'))).toBe('unsupported_version')
  })

  test.each([
    ['an unknown key', (text: string) => text.replace('}', ',"discount":1}')],
    [
      'a repeated key',
      (text: string) => text.replace('}', ',"reviewId":3}').replace('"reviewId":3', '"reviewId":9'),
    ],
    ['another key order', (text: string) => text.replace('"v":4,"chainId":84532', '"chainId":84532,"v":4')],
    ['white space', (text: string) => text.replace(',', ', ')],
    ['a number spelled otherwise', (text: string) => text.replace('84532', '8.4532e4')],
    ['an escaped character', (text: string) => text.replace('https:', 'https\\u003a')],
    [
      'a router without checksum',
      (text: string) => text.replace(terms.splitRouter, terms.splitRouter.toLowerCase()),
    ],
    ['a missing key', (text: string) => text.replace('"reviewId":3,', '')],
    ['an id as text', (text: string) => text.replace('"reviewId":3', '"reviewId":"3"')],
    ['an unsafe id', (text: string) => text.replace('"reviewId":3', '"reviewId":9007199254740992')],
    ['a negative id', (text: string) => text.replace('"reviewId":3', '"reviewId":-3')],
    ['a cashback above 40%', (text: string) => text.replace('2500', '4001')],
    ['a multiplier below 0.4', (text: string) => text.replace('7000', '3999')],
    ['a multiplier above 1', (text: string) => text.replace('7000', '10001')],
    [
      'an endpoint that is no web address',
      (text: string) => text.replace('https://shop.example', 'javascript:alert'),
    ],
    ['an endpoint with credentials', (text: string) => text.replace('shop.example', 'me:pw@shop.example')],
    ['a byte order mark', (text: string) => `\ufeff${text}`],
    ['a list', (text: string) => `[${text}]`],
  ])('is refused with %s, even when signed', async (_, alter) => {
    const text = alter(payloadText())
    expect(text).not.toBe(payloadText())
    expect(['invalid_token', 'invalid_json', 'unsupported_version']).toContain(await verifyText(text))
  })

  test.each([
    ['padded', `${vector.token}=`],
    ['in the standard alphabet', vector.token.replaceAll('-', '+').replaceAll('_', '/')],
    ['with a stray bit', `${vector.token.slice(0, -1)}5`],
    ['with a line break', `${vector.token}\n`],
  ])('has one spelling: %s it is refused', async (_, text) => {
    expect(await codeOf(() => AttributionToken.verify(text, ring))).toBe('invalid_base64')
  })

  test('is refused when longer than 4 KiB, and not minted so', async () => {
    expect(await codeOf(() => AttributionToken.verify('A'.repeat(4097), ring))).toBe('too_large')
    const long = { ...terms, merchantEndpoint: `https://shop.example/${'a'.repeat(2048)}` }
    expect(await codeOf(() => AttributionToken.mint(long, key))).toBe('invalid_token')
    const wide = { ...terms, merchantEndpoint: `https://shop.example/${'漢'.repeat(1500)}` }
    expect(await codeOf(() => AttributionToken.mint(wide, key))).toBe('too_large')
  })

  test('answers hostile text with terms or a ProtocolError, and verifies nothing but the original', async () => {
    await expectOnlyProtocolErrors(hostileText(vector.token), AttributionToken.decodeUnverified)
    await expectOnlyProtocolErrors(hostileText(vector.token), async (token) => {
      await AttributionToken.verify(token, ring)
      expect(token).toBe(vector.token)
    })
  })
})

describe('key ring', () => {
  const seeds = [2, 3, 4].map((byte) => new Uint8Array(32).fill(byte))

  test('verifies tokens of the current and the previous key, and of no older one', async () => {
    const keys = await Promise.all(seeds.map(AttestationKey.signingKey))
    const tokens = await Promise.all(keys.map((each) => AttributionToken.mint(terms, each)))
    const [first, second, third] = keys.map((each) => each.attestationPubKey)
    if (!first || !second || !third) throw new Error('three keys')

    const once = await AttestationKey.rotate(await AttestationKey.keyRing(first), second)
    const twice = await AttestationKey.rotate(once, third)
    const outcomes = (given: AttestationKey.KeyRing) =>
      Promise.all(tokens.map((token) => codeOf(async () => (await AttributionToken.verify(token, given)).v)))
    expect(await outcomes(once)).toEqual([{ returned: 4 }, { returned: 4 }, 'unknown_key'])
    expect(await outcomes(twice)).toEqual(['unknown_key', { returned: 4 }, { returned: 4 }])
    expect(await outcomes(await AttestationKey.keyRing(third, second))).toEqual(await outcomes(twice))
  })

  test('forgets nothing when it is rotated to its current key', async () => {
    const rotated = await AttestationKey.rotate(
      ring,
      (await AttestationKey.signingKey(seeds[0] as Uint8Array)).attestationPubKey,
    )
    expect(await AttestationKey.rotate(rotated, rotated.current.attestationPubKey)).toBe(rotated)
  })

  test('takes keys only as 64 lower-case hex digits', async () => {
    const good = vector.attestationPubKey
    for (const text of [good.toUpperCase(), `0x${good}`, good.slice(2), '', 'zz'.repeat(32)]) {
      expect(await codeOf(() => AttestationKey.keyRing(text))).toBe('invalid_key')
    }
    expect(await codeOf(() => AttestationKey.signingKey(new Uint8Array(31)))).toBe('invalid_key')
  })

  test('holds a private key only in what signs', () => {
    expect(Object.keys(key)).toEqual(['attestationPubKey', 'kid', 'sign'])
  })
})
