import { expect, it } from 'vitest'
import { idIn, numberIn, pageIn } from './page-in.ts'

it('reads ids from addresses, zero included', () => {
  expect(idIn('0')).toBe(0)
  expect(idIn('4711')).toBe(4711)
})

it('has no page for what is no id', () => {
  for (const text of ['', '-1', '01', '1.5', '1e3', 'seven', '9'.repeat(17)]) {
    expect(() => idIn(text), text).toThrow()
  }
})

it('leaves out pages and numbers that are none', () => {
  expect([pageIn('3'), pageIn(1), pageIn('x'), pageIn(-2)]).toEqual([{ page: 3 }, {}, {}, {}])
  expect([
    numberIn('agent', 0),
    numberIn('agent', '7'),
    numberIn('agent', ''),
    numberIn('agent', 'x'),
  ]).toEqual([{ agent: 0 }, { agent: 7 }, {}, {}])
})
