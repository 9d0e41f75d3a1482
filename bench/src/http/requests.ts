import { CHAIN_ID } from './market.ts'
import type { Request } from './request.ts'

export const LISTINGS = {
  reviews: { path: '/v1/review?limit=100', rowsPerPage: 100 },
  agents: { path: '/v1/agent?limit=20', rowsPerPage: 20 },
} as const
export type Listing = keyof typeof LISTINGS

export const get = (path: string): Request => ({ method: 'GET', path })

export const listing = (name: Listing, page = 1): Request => get(`${LISTINGS[name].path}&page=${page}`)

export const oneReview = (id: bigint): Request => get(`/v1/review/${id}`)

/** Requests for the ranks of agents from all over the list. */
export const reviewRanks = (count: number, agents: number): Request[] =>
  Array.from({ length: count }, (_, at) => get(`/v1/review-rank/${(at * 7_919) % agents}`))

let caps = 0

/** No two of them are the same. */
export const spendingLimits = (count: number): Request[] =>
  Array.from({ length: count }, () => {
    caps += 1
    const limit = {
      chain_id: CHAIN_ID,
      per_tx_cap_usdc: caps,
      daily_cap_usdc: 10 * caps,
      total_cap_usdc: null,
    }
    return { method: 'POST', path: '/v1/spending-limits', body: JSON.stringify(limit) }
  })
