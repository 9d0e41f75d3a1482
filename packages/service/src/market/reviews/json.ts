// Serialization of reviews. It is written by hand because the content is stored as valid JSON, and parsing it only to serialize it again
// would cost more than all the rest.
import type { Context } from '../../kit/context.ts'
import { hex, time } from '../../kit/json-values.ts'
import { refLinkOf } from '../ref-tokens/link.ts'
import type { ReviewRow } from './store.ts'

const textOf = (date: Date | null) => (date ? `"${time(date)}"` : 'null')

/** A review is published when it is on the chain and its text is known. */
export const statusOf = ({ review_id, content }: Pick<ReviewRow, 'review_id' | 'content'>) =>
  review_id !== null && content !== null ? 'published' : 'pending'

/** A review without a link has no field `ref_link` in a list, and an empty one by itself. */
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
