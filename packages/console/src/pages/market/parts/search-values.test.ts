import { describe, expect, it } from 'vitest'
import { oneOf, pageOf, textOf } from './search-values.ts'

describe('values of an address', () => {
  it('are text, trimmed and cut', () => {
    expect(textOf('  a summary ', 100)).toBe('a summary')
    expect(textOf(7, 100)).toBe('7')
    expect(textOf('abc', 2)).toBe('ab')
    for (const value of [undefined, null, '', '  ', {}, ['a']]) expect(textOf(value, 100)).toBeUndefined()
  })

  it('are a page only from 2 on', () => {
    expect([2, '3', 1, 0, -1, 1.5, 'x', undefined, 1e9].map(pageOf)).toEqual([
      2,
      3,
      ...Array(7).fill(undefined),
    ])
  })

  it('are one of the choices, or nothing', () => {
    expect(oneOf('b', ['a', 'b'])).toBe('b')
    expect(oneOf('toString', ['a', 'b'])).toBeUndefined()
  })
})
