import { expect, it } from 'vitest'
import type { ProductReview } from '../questions.ts'
import { SORTS } from '../search.ts'
import { sorted } from './sort.ts'

const review = (internal_id: number, more: object) =>
  ({
    internal_id,
    content_json: {},
    published_at: null,
    votes: { qualifying: 0 },
    sales_count: 0,
    ...more,
  }) as ProductReview
const reviews = [
  review(1, { content_json: { rating: 4 }, published_at: '2026-01-01T00:00:00Z', sales_count: 2 }),
  review(2, { content_json: { rating: 1 }, published_at: '2026-03-01T00:00:00Z', votes: { qualifying: 3 } }),
  review(3, { content_json: { rating: 5 }, published_at: '2026-02-01T00:00:00Z', sales_count: 2 }),
  review(4, {}),
]

it('sorts reviews by what was chosen, and keeps the order of the market where they are equal', () => {
  const orders = SORTS.map((sort) => [sort, sorted(reviews, sort).map(({ internal_id }) => internal_id)])
  expect(Object.fromEntries(orders)).toEqual({
    best: [1, 2, 3, 4],
    newest: [2, 3, 1, 4],
    rating: [3, 1, 2, 4],
    critical: [2, 1, 3, 4],
    votes: [2, 1, 3, 4],
    sales: [1, 3, 2, 4],
  })
})
