import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  account,
  bodyId,
  chainId,
  clamp,
  flag,
  id,
  integer,
  moment,
  offset,
  page,
  productId,
  text,
} from './fields.ts'

const taken = (schema: z.ZodType, given: unknown) => schema.safeParse(given).data
const isTaken = (schema: z.ZodType, given: unknown) => schema.safeParse(given).success

describe('an id in a path or a query', () => {
  const fromZero = id(0, 'invalid id', 'An id.')
  const fromOne = id(1, 'invalid id', 'An id.')

  it('takes every whole number from its least up that a double can hold', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (number) => {
        expect(taken(fromZero, String(number))).toBe(BigInt(number))
        expect(isTaken(fromOne, String(number))).toBe(number >= 1)
      }),
    )
    expect(taken(fromZero, '9007199254740991')).toBe(9007199254740991n)
  })

  it.each([
    ['9007199254740992'],
    ['9007199254740993'],
    ['99999999999999999999'],
    ['-1'],
    ['1.0'],
    ['1e3'],
    ['0x10'],
    [' 1'],
    ['1\n'],
    ['+1'],
    ['١'],
    [''],
    ['NaN'],
    [undefined],
    [['1', '2']],
  ])('refuses %j', (given) => {
    expect(isTaken(fromZero, given)).toBe(false)
  })
})

describe('an optional integer', () => {
  const limit = integer(50, 'How many.', clamp(1, 200))

  it('is its default when left out, and is fitted when it is out of range', () => {
    expect(taken(limit, undefined)).toBe(50)
    expect(['0', '1', '200', '201', '-9007199254740991'].map((given) => taken(limit, given))).toEqual([
      1, 1, 200, 200, 1,
    ])
    expect(['-5', '0', '7'].map((given) => taken(page, given))).toEqual([1, 1, 7])
    expect(['-5', '0', '7'].map((given) => taken(offset, given))).toEqual([0, 0, 7])
  })

  it('is never the default when it is there and no integer', () => {
    for (const given of ['', 'x', '1.5', '9007199254740992', ['1', '1']]) {
      expect(isTaken(limit, given)).toBe(false)
      expect(isTaken(chainId, given)).toBe(false)
    }
  })
})

describe('a product id', () => {
  it('is the same with and without the prefix, in any case', () => {
    const digits = 'aB'.repeat(32)
    expect(taken(productId, digits)).toBe(`0x${'ab'.repeat(32)}`)
    expect(taken(productId, `0x${digits}`)).toBe(`0x${'ab'.repeat(32)}`)
  })

  it.each([
    ['ab'.repeat(31)],
    ['ab'.repeat(33)],
    [`0x${'ab'.repeat(31)}`],
    [`0X${'ab'.repeat(32)}`],
    ['zz'.repeat(32)],
    [`${'ab'.repeat(32)}\n`],
    [''],
    [5],
  ])('is refused as %j', (given) => {
    expect(isTaken(productId, given)).toBe(false)
  })
})

describe('an account', () => {
  const owner = account('invalid owner address', 'An owner.')
  const checksummed = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

  it('is taken whatever its case, a wrong checksum too', () => {
    expect(taken(owner, checksummed)).toBe(checksummed)
    expect(taken(owner, checksummed.toLowerCase())).toBe(checksummed)
    expect(taken(owner, `0x${checksummed.slice(2).toUpperCase()}`)).toBe(checksummed)
    expect(taken(owner, checksummed.replace('f39F', 'F39f'))).toBe(checksummed)
  })

  it('is refused without its prefix, or of another length', () => {
    for (const given of [checksummed.slice(2), checksummed.slice(0, -1), `${checksummed}0`, '', '0x']) {
      expect(isTaken(owner, given)).toBe(false)
    }
  })
})

describe('a moment', () => {
  const from = moment('invalid from', 'From.')

  it('is read as RFC 3339, whatever its offset', () => {
    expect(taken(from, '2026-01-02T03:04:05Z')).toEqual(new Date(Date.UTC(2026, 0, 2, 3, 4, 5)))
    expect(taken(from, '2026-01-02T03:04:05.5+01:30')).toEqual(new Date(Date.UTC(2026, 0, 2, 1, 34, 5, 500)))
    expect(taken(from, '2026-01-02t03:04:05z')).toEqual(new Date(Date.UTC(2026, 0, 2, 3, 4, 5)))
    expect(taken(from, '2024-02-29T23:59:59.123456789-23:59')).toEqual(
      new Date(Date.UTC(2024, 2, 1, 23, 58, 59, 123)),
    )
  })

  it('is every moment that a date can write', () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date('0001-01-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59Z'),
          noInvalidDate: true,
        }),
        (date) => {
          expect(taken(from, date.toISOString())).toEqual(date)
        },
      ),
    )
  })

  it.each([
    ['2026-01-02'],
    ['2026-01-02T03:04:05'],
    ['2026-01-02 03:04:05Z'],
    ['2026-02-29T00:00:00Z'],
    ['2026-13-01T00:00:00Z'],
    ['2026-00-01T00:00:00Z'],
    ['2026-01-00T00:00:00Z'],
    ['2026-01-02T24:00:00Z'],
    ['2026-01-02T23:60:00Z'],
    ['2026-01-02T03:04:05+24:00'],
    ['2026-01-02T03:04:05+0100'],
    ['+002026-01-02T03:04:05Z'],
    ['1767323045'],
    ['yesterday'],
    [''],
  ])('is refused as %j', (given) => {
    expect(isTaken(from, given)).toBe(false)
  })

  it('is the nearest that the database can hold where it has no such year', () => {
    expect(taken(from, '0000-02-29T23:59:59Z')).toEqual(new Date('0001-01-01T00:00:00Z'))
    expect(taken(from, '0001-01-01T00:00:00+01:00')).toEqual(new Date('0001-01-01T00:00:00Z'))
    expect(taken(from, '9999-12-31T23:59:59-01:00')).toEqual(new Date('9999-12-31T23:59:59.999Z'))
  })
})

describe('a flag', () => {
  const needed = flag('Whether.')

  it('is true or false in every usual spelling, and false when left out', () => {
    for (const given of ['true', 'True', 'TRUE', 't', 'T', '1']) expect(taken(needed, given)).toBe(true)
    for (const given of ['false', 'False', 'FALSE', 'f', 'F', '0']) expect(taken(needed, given)).toBe(false)
    expect(taken(needed, undefined)).toBe(false)
  })

  it('is refused as anything else', () => {
    for (const given of ['', 'yes', 'tRUE', '2', ['true', 'true']]) expect(isTaken(needed, given)).toBe(false)
  })
})

describe('text', () => {
  it('is counted in characters, not in the units of JavaScript', () => {
    expect(isTaken(text(3, 1), '😀😀😀')).toBe(true)
    expect(isTaken(text(3, 1), '😀😀😀😀')).toBe(false)
    expect(isTaken(text(3, 1), '')).toBe(false)
    expect(isTaken(text(3), '')).toBe(true)
  })

  it('is refused with what the database cannot hold', () => {
    for (const given of ['a\0b', '\ud800', 'x\udc00']) expect(isTaken(text(10), given)).toBe(false)
  })
})

describe('an id in a body', () => {
  it('is a whole number from 0 up that a double can hold, and no text', () => {
    expect(taken(bodyId, 0)).toBe(0n)
    expect(taken(bodyId, Number.MAX_SAFE_INTEGER)).toBe(9007199254740991n)
    for (const given of [-1, 1.5, 2 ** 53, 1e300, Number.NaN, '1', null, undefined, [1], true]) {
      expect(isTaken(bodyId, given)).toBe(false)
    }
  })
})
