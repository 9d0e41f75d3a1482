import { isNotFound } from '@tanstack/react-router'
import { describe, expect, it } from 'vitest'
import { idIn } from './address.ts'

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
})
