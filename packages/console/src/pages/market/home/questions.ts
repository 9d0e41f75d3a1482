// What the first page asks of the market.
import { type Api, read } from '../../../api/api.ts'

const MOST_PURCHASES = 8
const MOST_REVIEWS = 3
const MOST_REVIEWERS = 8

export const statistics = (api: Api) => read(api, '/v1/stats')

export const recentPurchases = (api: Api) =>
  read(api, '/v1/activity', { params: { query: { limit: MOST_PURCHASES } } })

export const newestReviews = (api: Api) =>
  read(api, '/v1/activity/reviews', { params: { query: { limit: MOST_REVIEWS } } })

export const topReviewers = (api: Api) =>
  read(api, '/v1/leaderboard', { params: { query: { type: 'repeat', limit: MOST_REVIEWERS } } })
