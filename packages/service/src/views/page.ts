// Pages of the lists that everybody may read.
import { z } from 'zod'
import { clamp, integer, page, wholeNumber } from '../kit/fields.ts'
import { offsetOf, type Page } from '../machinery/db/page.ts'

const LIMIT = 20
const MOST = 100
/** Where lists end. Nobody reads as far, and skipping a million rows takes as long as reading them. */
export const LONGEST_LIST = 10_000

export const limit = integer(LIMIT, `How many, 1 to ${MOST}.`, clamp(1, MOST))

/** Query fields that select a page. */
export const pageFields = { page, limit }

export const hasMore = z.boolean().meta({ about: 'Whether there is more after these.' })

/** Fields of an answer with one page. */
export const pageShown = { page: wholeNumber, limit: wholeNumber, has_more: hasMore }

/** How many heavy reads of a kind run at once. */
export const READ_AT_ONCE = 4

export interface PageQuery {
  page: number
  limit: number
}

/** Reads one row more than the page has, which tells whether another page follows. */
export async function readPage<T>(
  { page, limit }: PageQuery,
  read: (part: Page) => Promise<T[]>,
): Promise<{ rows: T[]; page: number; limit: number; has_more: boolean }> {
  const offset = offsetOf({ page, limit })
  if (offset >= LONGEST_LIST) return { rows: [], page, limit, has_more: false }
  const rows = await read({ limit: limit + 1, offset })
  return {
    rows: rows.slice(0, limit),
    page,
    limit,
    has_more: rows.length > limit && offset + limit < LONGEST_LIST,
  }
}
