// Reviews with figures beside them, as lists for people show them.
import type { Queryable } from '@referrer/database'
import { z } from 'zod'
import type { Context } from '../kit/context.ts'
import { wholeNumber } from '../kit/fields.ts'
import { whole } from '../kit/json-values.ts'
import { reviewJson } from '../market/reviews/json.ts'
import { findReviewRecords, type ReviewRow } from '../market/reviews/store.ts'

/** Fields beside those of a listed review. */
export const reviewFigures = {
  votes: z.object({
    count: wholeNumber,
    qualifying: wholeNumber.meta({ about: 'Those by other owners than the author’s, which count.' }),
  }),
  sales_count: wholeNumber.meta({ about: 'Of purchases through this review.' }),
}

export interface FiguresRow {
  internal_id: bigint
  votes: bigint
  qualifying: bigint
  sales: bigint
}

/** The columns of a `FiguresRow`, from rows of `page` with the two ids of their reviews, and from `figuresJoin`. */
export const figuresColumns = (sql: Queryable, chainId: number) => sql`
  page.internal_id, coalesce(v.count, 0) AS votes, coalesce(v.qualifying, 0) AS qualifying,
  coalesce((SELECT s.conversions FROM market.review_sales AS s
    WHERE s.chain_id = ${chainId} AND s.review_id = page.review_id), 0) AS sales`

export const figuresJoin = (sql: Queryable) => sql`
  LEFT JOIN LATERAL (
    SELECT count, qualifying FROM market.review_votes AS v WHERE v.internal_id = page.internal_id LIMIT 1) AS v ON true`

/** A JSON array of reviews with their figures and `more` fields, in the order of the rows. */
export async function listedReviews<T extends FiguresRow>(
  context: Context,
  rows: readonly T[],
  more: (row: T, review: ReviewRow) => Record<string, unknown>,
): Promise<string> {
  if (rows.length === 0) return '[]'
  const records = await findReviewRecords(
    context.sql,
    rows.map(({ internal_id }) => internal_id),
  )
  const byId = new Map(records.map((record) => [record.internal_id, record]))
  const listed = rows.flatMap((row) => {
    const review = byId.get(row.internal_id)
    // A reorganisation may have taken the review back since the row was read.
    if (!review || review.review_id === null) return []
    const beside = {
      votes: { count: whole(row.votes), qualifying: whole(row.qualifying) },
      sales_count: whole(row.sales),
      ...more(row, review),
    }
    return [`${reviewJson(context, review, 'listed').slice(0, -1)},${JSON.stringify(beside).slice(1)}`]
  })
  return `[${listed.join(',')}]`
}
