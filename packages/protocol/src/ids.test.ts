import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeOf, expectOnlyProtocolErrors, hostileText } from '../test/hostile.ts'
import * as Ids from './ids.ts'
import * as ProductId from './product-id.ts'

describe('ids', () => {
  test('reads numbers, bigints and decimal text alike, 0 included', () => {
    expect([0, 0n, '0'].map((value) => Ids.parse(value))).toEqual([0, 0, 0])
    fc.assert(
      fc.property(fc.maxSafeNat(), (id) => {
        expect([id, BigInt(id), String(id)].map((value) => Ids.parse(value))).toEqual([id, id, id])
      }),
    )
  })

  test('refuses what it would have to round, and whatever is no plain integer', async () => {
    const refused = [
      2 ** 53,
      2n ** 53n,
      '9007199254740992',
      -1,
      -1n,
      '-1',
      -0,
      1.5,
      '1.0',
      '01',
      '+1',
      ' 1',
      '1e3',
    ]
    for (const value of [...refused, '0x1', '', 'abc', null, undefined, true, [1], {}]) {
      expect(await codeOf(() => Ids.parse(value)), String(value)).toBe('invalid_id')
    }
  })

  test('answers hostile input with an id or a ProtocolError', async () => {
    await expectOnlyProtocolErrors(hostileText('1234567890123'), Ids.parse)
  })
})

describe('product id', () => {
  const digits = 'AB'.repeat(32)

  test('takes 32-byte hex with and without 0x and always gives 0x lower case', () => {
    expect(ProductId.parse(`0x${digits}`)).toBe(`0x${digits.toLowerCase()}`)
    expect(ProductId.parse(digits)).toBe(`0x${digits.toLowerCase()}`)
  })

  test('refuses 31 bytes, 33 bytes and non-hex', async () => {
    for (const value of [
      digits.slice(2),
      `${digits}ab`,
      'zz'.repeat(32),
      `0X${digits}`,
      `${digits}\n`,
      7,
      null,
    ]) {
      expect(await codeOf(() => ProductId.parse(value))).toBe('invalid_product_id')
    }
  })

  test('answers hostile text with a product id or a ProtocolError', async () => {
    await expectOnlyProtocolErrors(hostileText(`0x${digits}`), ProductId.parse)
  })
})
