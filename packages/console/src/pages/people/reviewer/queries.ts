// What the page of a reviewer shows, as queries: the loader asks for all of it at once.
import { type Api, read } from '../../../api/api.ts'
import { oneOf, pageOf } from '../../market/parts/search-values.ts'

export const REVIEWS = 8
export const EVIDENCE = 10

export const RANK_TYPES = ['repeat', 'one_off'] as const
export type RankType = (typeof RANK_TYPES)[number]

export interface ReviewerSearch {
  /** Page of the reviews. */
  page?: number | undefined
  /** Page of the evidence, and of which rank. */
  evidence?: number | undefined
  of?: RankType | undefined
}

export const readSearch = (given: Record<string, unknown>): ReviewerSearch => ({
  page: pageOf(given.page),
  evidence: pageOf(given.evidence),
  of: oneOf(given.of, RANK_TYPES),
})

export function reviewerQueries(api: Api, id: number, { page = 1, evidence = 1 }: ReviewerSearch) {
  const path = { id }
  return {
    card: read(api, '/v1/agent/{id}/card', { params: { path } }),
    rank: read(api, '/v1/agent/{id}/rank', {
      params: { path, query: { explain: 'true', limit: EVIDENCE, offset: (evidence - 1) * EVIDENCE } },
    }),
    reviews: read(api, '/v1/agent/{id}/reviews', { params: { path, query: { page, limit: REVIEWS } } }),
    earnings: read(api, '/v1/agent/{id}/earnings/daily', { params: { path } }),
  }
}
