import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeOf, expectOnlyProtocolErrors, hostileText } from '../test/hostile.ts'
import * as Base64 from './base64.ts'

const LIMIT = 4096

describe('base64', () => {
  test('reads back any bytes in all four spellings: either alphabet, padded or not', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const standard = Base64.encode(bytes, 'standard')
        const url = Base64.encode(bytes, 'url')
        expect(standard).toBe(Buffer.from(bytes).toString('base64'))
        expect(url).toBe(Buffer.from(bytes).toString('base64url'))
        const padding = standard.slice(standard.replaceAll('=', '').length)
        for (const text of [standard, url, standard.replaceAll('=', ''), url + padding]) {
          expect(Base64.decode(text, LIMIT)).toEqual(bytes)
        }
      }),
    )
  })

  test('encodes more bytes than a function call takes arguments', () => {
    const bytes = new Uint8Array(300_000).fill(7)
    expect(Base64.decode(Base64.encode(bytes, 'url'), 500_000)).toEqual(bytes)
  })

  test.each([
    ['mixed alphabets', '+_aa'],
    ['a lone character', 'A'],
    ['padding of the wrong length', 'AA='],
    ['padding inside', 'A=AA'],
    ['white space', 'AA AA'],
    ['a line break at the end', 'AAAA\n'],
    ['stray bits in the last character', 'AB'],
    ['stray bits before padding', 'AB=='],
    ['no text', undefined],
  ])('refuses %s', async (_, text) => {
    expect(await codeOf(() => Base64.decode(text, LIMIT))).toBe('invalid_base64')
  })

  test('refuses text above the limit before it decodes anything', async () => {
    expect(await codeOf(() => Base64.decode('AAAAA', 4))).toBe('too_large')
  })

  test.each(['AA==', '+/+/', '-_=='])('refuses %s where only unpadded base64url counts', async (text) => {
    expect(await codeOf(() => Base64.decodeUrl(text, LIMIT))).toBe('invalid_base64')
  })

  test('answers hostile text with bytes or a ProtocolError', async () => {
    await expectOnlyProtocolErrors(hostileText('SGVsbG8td29ybGQ_'), (text) => Base64.decode(text, LIMIT))
  })
})
