import { createPublicKey, verify } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTradedMarket, type Traded } from './traded.ts'

/** What stands before the 32 bytes of an Ed25519 key in its usual encoding (RFC 8410). */
const KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

let m: Traded
let token: Buffer
// biome-ignore lint/suspicious/noExplicitAny: a test looks into it
let manifest: any

beforeAll(async () => {
  m = await startTradedMarket()
  const { body } = await m.call('GET', `/v1/review/${m.review.reviewId}`)
  token = Buffer.from(body.ref_link.split('/').at(-1), 'base64url')
  manifest = (await m.call('GET', '/.well-known/referrer-agent')).body
})
afterAll(() => m.close())

function isSignedBy(attestationPubKey: string): boolean {
  const key = createPublicKey({
    key: Buffer.concat([KEY_PREFIX, Buffer.from(attestationPubKey, 'hex')]),
    format: 'der',
    type: 'spki',
  })
  return verify(null, token.subarray(0, -64), key, token.subarray(-64))
}

describe('the token of a ref link', () => {
  it('is signed with the key that the manifest names for its chain, and with no other [AUTH-31]', () => {
    const { chainId } = JSON.parse(token.subarray(0, -64).toString())
    expect(chainId).toBe(m.chainId)
    const [own, other] = manifest.chains
    expect(own.chainId).toBe(chainId)
    expect(isSignedBy(own.attestationPubKey)).toBe(true)
    expect(isSignedBy(other.attestationPubKey)).toBe(false)
  })

  it('of the default chain is signed with the first key of the manifest [AUTH-32]', () => {
    expect(isSignedBy(manifest.attestationPubKey)).toBe(true)
  })

  it('is of the version that the manifest tells [VER-04]', () => {
    expect(JSON.parse(token.subarray(0, -64).toString()).v).toBe(manifest.attribution.tokenVersion)
    expect(manifest.attribution.tokenVersion).toBe(4)
  })
})
