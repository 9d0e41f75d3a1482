import fc from 'fast-check'
import { numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { codeOf, expectOnlyProtocolErrors, hostileText } from '../test/hostile.ts'
import * as Nonce from './nonce.ts'

const hex = `0x${'AB'.repeat(32)}` as const

describe('nonce', () => {
  test('decimal and bytes32 are two spellings of one value', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
        const nonce = numberToHex(value, { size: 32 })
        expect(Nonce.parse('decimal', value.toString())).toBe(nonce)
        expect(Nonce.parse('bytes32', nonce)).toBe(nonce)
        expect(Nonce.serialize('decimal', nonce)).toBe(value.toString())
        expect(Nonce.serialize('bytes32', nonce)).toBe(nonce)
      }),
    )
  })

  test('upper-case hex is the same nonce in its lower-case form', () => {
    expect(Nonce.parse('bytes32', hex)).toBe(hex.toLowerCase())
  })

  test('a decimal nonce is refused as hex, above uint256, or as no number', async () => {
    for (const value of [hex, (2n ** 256n).toString(), 'abc', '-1', '1.0', '007', '', 42, null]) {
      expect(await codeOf(() => Nonce.parse('decimal', value)), String(value)).toBe('invalid_nonce')
    }
  })

  test('a bytes32 nonce is refused as decimal or short hex', async () => {
    for (const value of ['42', '0x2a', hex.slice(2), `${hex}00`, `${hex}\n`, '', 42, null]) {
      expect(await codeOf(() => Nonce.parse('bytes32', value)), String(value)).toBe('invalid_nonce')
    }
  })

  test('random nonces are 32 bytes and differ', () => {
    const nonces = Array.from({ length: 100 }, () => Nonce.random())
    expect(new Set(nonces).size).toBe(100)
    for (const nonce of nonces) expect(nonce).toMatch(/^0x[0-9a-f]{64}$/)
  })

  test('answers hostile text with a nonce or a ProtocolError', async () => {
    await expectOnlyProtocolErrors(hostileText(hex), (text) => Nonce.parse('bytes32', text))
    await expectOnlyProtocolErrors(hostileText('123456789'), (text) => Nonce.parse('decimal', text))
  })
})
