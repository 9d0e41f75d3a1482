// What the page of a reviewer shows, as queries: the loader asks for all of it at once.
import { type Api, read } from '../../../api/api.ts'
import { pageIn, present } from '../shared/address.ts'

export const REVIEWS = 8
export const EVIDENCE = 10

export type RankType = 'repeat' | 'one_off'

export interface ReviewerSearch {
  /** Page of the reviews. */
  page?: number
  /** Page of the evidence, and of which rank. */
  evidence?: number
  of?: RankType
}

export const readSearch = (given: Record<string, unknown>): ReviewerSearch =>
  present({
    page: pageIn(given.page),
    evidence: pageIn(given.evidence),
    of: given.of === 'one_off' || given.of === 'repeat' ? given.of : undefined,
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
