import { type Api, read } from '../../../api/api.ts'

const PER_PAGE = 25
export const TYPES = ['repeat', 'one_off'] as const

export interface ReviewersSearch {
  type?: (typeof TYPES)[number] | undefined
  page?: number | undefined
}

export const leaderboard = (api: Api, { type = 'repeat', page = 1 }: ReviewersSearch) =>
  read(api, '/v1/leaderboard', { params: { query: { type, page, limit: PER_PAGE } } })
