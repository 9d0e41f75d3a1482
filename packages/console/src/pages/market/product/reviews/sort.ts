import { readContent } from '../../parts/review-content.ts'
import type { ProductReview } from '../questions.ts'
import type { Sort } from '../search.ts'

export const SORT_NAMES: Record<Sort, string> = {
  best: 'Best author',
  newest: 'Newest',
  rating: 'Highest rating',
  critical: 'Lowest rating',
  votes: 'Most votes',
  sales: 'Most sales',
}

const LOWEST = 0
const NOT_RATED_LOW = 6
const ratingOf = ({ content_json }: ProductReview) => readContent(content_json).rating

/** What is sorted by, the largest first; equal ones stay as the market ordered them. */
const VALUES: Record<Exclude<Sort, 'best'>, (review: ProductReview) => number> = {
  newest: ({ published_at }) => (published_at ? Date.parse(published_at) : LOWEST),
  rating: (review) => ratingOf(review) ?? LOWEST,
  critical: (review) => -(ratingOf(review) ?? NOT_RATED_LOW),
  votes: ({ votes }) => votes.qualifying,
  sales: ({ sales_count }) => sales_count,
}

export const sorted = (reviews: ProductReview[], sort: Sort): ProductReview[] =>
  sort === 'best' ? reviews : reviews.toSorted((a, b) => VALUES[sort](b) - VALUES[sort](a))
