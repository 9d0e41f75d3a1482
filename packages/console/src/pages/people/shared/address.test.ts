import { isNotFound } from '@tanstack/react-router'
import { describe, expect, it } from 'vitest'
import { idIn, pageIn, present } from './address.ts'

describe('an address of a page', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    ['999999999999999', 999_999_999_999_999],
  ])('names %s by its id', (text, id) => expect(idIn(text)).toBe(id))

  it.each(['', '-1', '07', '1.5', '1e3', ' 1', '0x1', '9999999999999999', 'abc'])(
    'leads nowhere with the id "%s"',
    (text) => {
      let refusal: unknown
      try {
        idIn(text)
      } catch (error) {
        refusal = error
      }
      expect(isNotFound(refusal)).toBe(true)
    },
  )

  it('leads nowhere with 0 where ids begin with 1', () => {
    expect(idIn('1', 1)).toBe(1)
    expect(() => idIn('0', 1)).toThrow()
  })

  it('is on the first page when it names none that there can be', () => {
    expect([2, 10_000].map(pageIn)).toEqual([2, 10_000])
    for (const given of [undefined, 1, 0, -3, 1.5, 10_001, '2', Number.NaN, {}])
      expect(pageIn(given)).toBeUndefined()
  })

  it('leaves out what is not set', () =>
    expect(present({ page: undefined, evidence: 2 })).toEqual({ evidence: 2 }))
})
