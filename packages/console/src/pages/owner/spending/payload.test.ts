import { expect, it } from 'vitest'
import { purchaseOf } from './payload.ts'

it('shows the host of the link and the most that it may cost, as text or number', () => {
  expect(purchaseOf({ ref_link: 'https://m.example/r/abc', max_amount: '2500000' })).toEqual({
    host: 'm.example',
    most: 2_500_000n,
  })
  expect(purchaseOf({ ref_link: 'https://m.example/r/abc', max_amount: 7 }).most).toBe(7n)
})

it('reads whatever is not such a purchase as unknown', () => {
  for (const payload of [null, 7, [], { ref_link: 7, max_amount: '1e3' }, { ref_link: 'nothing' }]) {
    expect(purchaseOf(payload)).toEqual({ host: 'an unknown market', most: undefined })
  }
})
