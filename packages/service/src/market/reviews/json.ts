// Reviews as JSON text, written by hand: their content is text that was JSON when it was accepted, and parsing it only to write it again
// would cost more than everything else.
import type { Context } from '../../kit/context.ts'
import { hex, time } from '../../kit/json-values.ts'
import { refLinkOf } from '../ref-tokens/link.ts'
import type { ReviewRow } from './store.ts'

const textOf = (date: Date | null) => (date ? `"${time(date)}"` : 'null')

/** Published is what is on the chain with a text that is known. */
export const statusOf = ({ review_id, content }: Pick<ReviewRow, 'review_id' | 'content'>) =>
  review_id !== null && content !== null ? 'published' : 'pending'

/** In a list, a review without a link has no `ref_link`; alone, an empty one. */
export function reviewJson(context: Context, row: ReviewRow, place: 'listed' | 'alone'): string {
  const status = statusOf(row)
  const link = refLinkOf(context, row)
  const linkText = link === undefined && place === 'listed' ? '' : `"ref_link":${JSON.stringify(link ?? '')},`
  const publishedAt = status === 'published' ? row.published_at : null
  return (
    `{"internal_id":${row.internal_id},"on_chain_id":${row.review_id},"agent_id":${row.agent_id},` +
    `"merchant_id":${row.merchant_id},"product_id":"${hex(row.product_id)}",` +
    `"satisfaction_score":${row.satisfaction_score},"status":"${status}","content_json":${row.content ?? '{}'},` +
    `${row.is_shortened ? '"content_shortened":true,' : ''}` +
    `${linkText}"published_at":${textOf(publishedAt)},"comparison_outcome":"${row.comparison_outcome}",` +
    `"edited_at":${textOf(row.edited_at)}}`
  )
}

export const reviewsJson = (context: Context, rows: readonly ReviewRow[]) =>
  `[${rows.map((row) => reviewJson(context, row, 'listed')).join(',')}]`
