import fc from 'fast-check'
import {
  concat,
  hashMessage,
  keccak256,
  type LocalAccount,
  numberToHex,
  recoverMessageAddress,
  toHex,
} from 'viem'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { codeOf, expectOnlyProtocolErrors, hostileText } from '../test/hostile.ts'
import { dev } from '../test/keys.ts'
import * as RequestSignature from './request-signature.ts'

const vector = {
  body: '{"x402Version":2,"paymentPayload":{"a":1},"paymentRequirements":{"scheme":"exact"}}',
  timestamp: 1750000000,
  hash: '0x490d3f0aaabd4b76d70000ccb11530aafaa9a517ee9741e35a7259f773cef5df',
  signature:
    '0xc77c9d7a2f85d0b9cf57c82e4a505c2a77ee505316aaabca6bc9486de9886ff97d6c086e4dd702a799ff31c50b0e306988c74a67c531de6774ce6a9bd57c4fca1b',
} as const

describe('request signature', () => {
  test('matches the published vector: hash, signature and signer', async () => {
    expect(await RequestSignature.hash(vector.body, vector.timestamp)).toBe(vector.hash)
    expect(await RequestSignature.sign(dev, vector.body, vector.timestamp)).toEqual({
      timestamp: vector.timestamp,
      signature: vector.signature,
    })
    expect(await RequestSignature.recover(vector)).toBe(dev.address)
  })

  test('appends the timestamp as eight big-endian bytes, not as text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), fc.maxSafeNat(), async (body, timestamp) => {
        const expected = keccak256(concat([toHex(body), numberToHex(timestamp, { size: 8 })]))
        expect(await RequestSignature.hash(body, timestamp)).toBe(expected)
      }),
    )
  })

  test('hashes text as its UTF-8 bytes', async () => {
    const text = '{"name":"Käse 🧀"}'
    expect(await RequestSignature.hash(text, 1)).toBe(
      await RequestSignature.hash(new TextEncoder().encode(text), 1),
    )
  })

  test('a request without a body signs the timestamp alone', async () => {
    expect(await RequestSignature.hash('', 1750000000)).toBe(keccak256(numberToHex(1750000000, { size: 8 })))
  })

  test('agrees with viem on who signed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.maxSafeNat(), async (body, timestamp) => {
        const { signature } = await RequestSignature.sign(dev, body, timestamp)
        const raw = await RequestSignature.hash(body, timestamp)
        expect(await RequestSignature.recover({ body, timestamp, signature })).toBe(
          await recoverMessageAddress({ message: { raw }, signature }),
        )
      }),
      { numRuns: 10 },
    )
  })

  test('one changed byte of the body, or one second, recovers somebody else', async () => {
    expect(await RequestSignature.recover({ ...vector, body: `${vector.body} ` })).not.toBe(dev.address)
    expect(await RequestSignature.recover({ ...vector, timestamp: vector.timestamp + 1 })).not.toBe(
      dev.address,
    )
  })

  test('is no signature over the bare hash', async () => {
    const signature = await dev.sign({ hash: vector.hash })
    expect(await RequestSignature.recover({ ...vector, signature })).not.toBe(dev.address)
    expect(await dev.sign({ hash: hashMessage({ raw: vector.hash }) })).toBe(vector.signature)
  })

  test('takes a viem account as signer', () => {
    expectTypeOf<LocalAccount>().toExtend<RequestSignature.RequestSigner>()
  })
})

describe('timestamp window', () => {
  const at = (skew: number) => codeOf(() => RequestSignature.verify(vector, vector.timestamp + skew))

  test('accepts up to 60 seconds either way', async () => {
    for (const skew of [-60, -55, 0, 55, 60]) expect(await at(skew)).toEqual({ returned: dev.address })
  })

  test('refuses a timestamp 61 seconds in the past', async () => {
    expect(await at(61)).toBe('timestamp_out_of_range')
  })

  test('refuses a timestamp 61 seconds in the future', async () => {
    expect(await at(-61)).toBe('timestamp_out_of_range')
  })

  test('refuses a timestamp that is no whole number of seconds', async () => {
    for (const timestamp of [Number.NaN, -1, 1.5, 2 ** 53]) {
      expect(await codeOf(() => RequestSignature.hash('', timestamp))).toBe('invalid_timestamp')
    }
  })
})

describe('headers', () => {
  test('travel as X-Agent-Timestamp and X-Agent-Signature and come back', () => {
    const headers = RequestSignature.serialize(vector)
    expect(headers).toEqual({ 'X-Agent-Timestamp': '1750000000', 'X-Agent-Signature': vector.signature })
    expect(RequestSignature.parse(new Headers(headers))).toEqual({
      timestamp: vector.timestamp,
      signature: vector.signature,
    })
  })

  test('are refused without a timestamp or without a signature', async () => {
    const { 'X-Agent-Timestamp': timestamp = '', 'X-Agent-Signature': signature = '' } =
      RequestSignature.serialize(vector)
    const code = (headers: Record<string, string>) =>
      codeOf(() => RequestSignature.parse(new Headers(headers)))
    expect(await code({ 'X-Agent-Signature': signature })).toBe('invalid_timestamp')
    expect(await code({ 'X-Agent-Timestamp': timestamp })).toBe('malformed_signature')
  })

  test('are refused with a timestamp that is not decimal', async () => {
    for (const text of ['abc', '-1', '1.5', '0x10', '01', '1e9', '99999999999999999999']) {
      const headers = new Headers({ 'X-Agent-Timestamp': text, 'X-Agent-Signature': vector.signature })
      expect(await codeOf(() => RequestSignature.parse(headers)), text).toBe('invalid_timestamp')
    }
  })

  test('answer hostile values with a ProtocolError or a signer', async () => {
    const decode = (name: string) => async (value: unknown) => {
      const good = RequestSignature.serialize(vector)
      const parsed = RequestSignature.parse({
        get: (asked) => (asked === name ? String(value) : (good[asked] ?? null)),
      })
      await RequestSignature.recover({ body: vector.body, ...parsed })
    }
    const text = (valid: string) => hostileText(valid).filter((value) => typeof value === 'string')
    await expectOnlyProtocolErrors(text('1750000000'), decode('X-Agent-Timestamp'))
    await expectOnlyProtocolErrors(text(vector.signature), decode('X-Agent-Signature'))
  })
})
