import fc from 'fast-check'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { Mpp, ProtocolError, X402 } from './index.ts'

const buyer = privateKeyToAccount(`0x${'01'.repeat(32)}`)
const ROUTER = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const encoded = (value: object) => X402.encodeHeader(value, 'url')

const request = {
  amount: '100000',
  currency: USDC,
  methodDetails: { chainId: 84_532, credentialTypes: ['authorization'], decimals: 6 },
  recipient: ROUTER,
}
const challenge = {
  id: 'abc',
  realm: 'shop.test',
  method: 'evm',
  intent: 'charge',
  request: encoded(request),
  expires: '2027-01-01T00:00:00.000Z',
  opaque: 'e30',
}
const payload = {
  type: 'authorization',
  from: buyer.address,
  to: ROUTER,
  value: '100000',
  validAfter: '0',
  validBefore: '1798761600',
  nonce: Mpp.challengeHash(challenge),
  signature: `0x${'22'.repeat(65)}`,
}
const source = `did:pkh:eip155:84532:${buyer.address}`
const written = (wire: object) => `Payment ${encoded(wire)}`

describe('a credential', () => {
  it('is read with its challenge and what that asks for', () => {
    const { type: _type, signature, ...authorization } = payload
    const { method: _method, intent: _intent, ...echoed } = challenge
    expect(Mpp.parseCredential(written({ challenge, payload, source }))).toEqual({
      challenge: echoed,
      charge: { amount: '100000', currency: USDC, recipient: ROUTER, chainId: 84_532 },
      signature,
      authorization,
    })
    expect(() => Mpp.parseCredential(written({ challenge, payload }))).not.toThrow()
  })

  it('that does not pay its own challenge is refused, with the field that is wrong', () => {
    for (const [field, value] of Object.entries({
      type: 'permit2',
      to: USDC,
      value: '99999',
      nonce: `0x${'33'.repeat(32)}`,
      from: undefined,
      signature: '0x',
    })) {
      const wire = { challenge, payload: { ...payload, [field]: value } }
      expect(() => Mpp.parseCredential(written(wire))).toThrow(new RegExp(`${field} must be`))
    }
    for (const change of [{ splits: [] }, { chainId: '84532' }]) {
      const methodDetails = { ...request.methodDetails, ...change }
      const asked = { ...challenge, request: encoded({ ...request, methodDetails }) }
      expect(() => Mpp.parseCredential(written({ challenge: asked, payload }))).toThrow(
        'request.methodDetails.',
      )
    }
    const other = source.replace('84532', '1')
    expect(() => Mpp.parseCredential(written({ challenge, payload, source: other }))).toThrow(
      'source must be',
    )
  })

  it('of other people’s making throws nothing but a ProtocolError', () => {
    const any = fc.oneof(fc.anything(), fc.jsonValue())
    const near = fc
      .tuple(
        fc.constantFrom('challenge', 'payload'),
        fc.constantFrom(...Object.keys(challenge), ...Object.keys(payload)),
        any,
      )
      .map(([part, field, value]) => {
        const wire: Record<string, object> = { challenge, payload }
        return { ...wire, [part]: { ...wire[part], [field]: value } }
      })
    const inside = any.map((value) => {
      try {
        return { challenge: { ...challenge, request: encoded(Object(value)) }, payload }
      } catch {
        return {}
      }
    })
    fc.assert(
      fc.property(fc.oneof(near, inside, any), (wire) => {
        let header: unknown = wire
        try {
          header = written(Object(wire))
        } catch {
          // It is no JSON, and is given as it is.
        }
        try {
          Mpp.parseCredential(header)
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('the credential among others', () => {
  it.each([
    ['Payment abc', 'Payment abc'],
    ['payment abc', 'payment abc'],
    ['Bearer x, Payment abc', 'Payment abc'],
    ['Payment', 'Payment'],
    ['Payments abc', undefined],
    ['Bearer Payment', undefined],
    ['', undefined],
  ])('of %j is %j', (header, found) => {
    expect(Mpp.credentialIn(header)).toBe(found)
  })
})
