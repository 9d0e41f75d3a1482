// What the address of a product's page carries.
import { getRouteApi } from '@tanstack/react-router'
import { oneOf, pageOf } from '../parts/search-values.ts'

export const SORTS = ['best', 'newest', 'rating', 'critical', 'votes', 'sales'] as const
export type Sort = (typeof SORTS)[number]
export const WAYS = ['mcp', 'x402', 'wallet'] as const
export const VIEWS = ['cards', 'table'] as const

export interface ProductSearch {
  page?: number | undefined
  sort?: Sort | undefined
  view?: (typeof VIEWS)[number] | undefined
  /** The id on the chain of a review to show before the others. */
  review?: number | undefined
  /** The internal id of the review to buy through. */
  through?: number | undefined
  way?: (typeof WAYS)[number] | undefined
}

const idOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(Number(value)) && Number(value) >= 0 && value !== '' && value !== null
    ? Number(value)
    : undefined

export const searchOf = (search: Record<string, unknown>): ProductSearch => ({
  page: pageOf(search.page),
  sort: oneOf(search.sort, SORTS),
  view: oneOf(search.view, VIEWS),
  review: idOf(search.review),
  through: idOf(search.through),
  way: oneOf(search.way, WAYS),
})

export const productPage = getRouteApi('/product/$merchantId/$productId')
