// Writes a discovery answer as JSON text. It is built from strings because the review contents are stored as JSON
// text already and need no parsing.
import type { Context } from '../../kit/context.ts'
import { hex, time } from '../../kit/json-values.ts'
import { refLinkOf } from '../../market/ref-tokens/link.ts'
import type { ReviewRow } from '../../market/reviews/store.ts'
import type { Brief } from './brief.ts'
import type { Chosen } from './choose.ts'
import type { ProductExplanation, QuestionExplanation, ReviewExplanation } from './shapes.ts'
import type { Entry } from './slate.ts'

/** A product with the reviews to show. */
export interface Shown extends Chosen, Partial<Omit<Brief, 'entries'>> {
  entries: readonly Entry[]
  /** Undefined: no author has a rank. */
  meanAuthorRank: number | undefined
  /** Only for those who ask. */
  explain?: { product: ProductExplanation | undefined; reviews: ReadonlyMap<bigint, ReviewExplanation> }
}

/** If the products have fewer published reviews together, the answer says that coverage is thin. */
const ENOUGH_REVIEWS = 3

export function discoveryJson(
  context: Context,
  chainId: number,
  products: readonly Shown[],
  reviews: ReadonlyMap<bigint, ReviewRow>,
  explain?: QuestionExplanation,
): string {
  const reviewCount = products.reduce((sum, { row }) => sum + row.review_count, 0)
  const checklists = checklistsJson(products)
  return (
    `{"products":[${products.map((product) => productJson(context, chainId, product, reviews)).join(',')}]` +
    `${reviewCount < ENOUGH_REVIEWS ? ',"coverage":"thin"' : ''}${checklists && `,"checklists":${checklists}`}${explainJson(explain)}}`
  )
}

const explainJson = (explain: object | undefined) =>
  explain === undefined ? '' : `,"explain":${JSON.stringify(explain)}`

/** Empty text: no category has a checklist. */
function checklistsJson(products: readonly Shown[]): string {
  const items = new Map(products.map(({ row }) => [row.category, row.checklist]))
  const lists = [...items].flatMap(([category, list]) =>
    list ? [`${JSON.stringify(category)}:${JSON.stringify(list)}`] : [],
  )
  return lists.length === 0 ? '' : `{${lists.join(',')}}`
}

function productJson(
  context: Context,
  chainId: number,
  { row, intentMatch, score, entries, meanAuthorRank, moreExcluded, moreOverflow, explain }: Shown,
  reviews: ReadonlyMap<bigint, ReviewRow>,
): string {
  const shown = entries.flatMap((entry) => {
    const review = reviews.get(entry.internalId)
    // The review may have left the chain since the slate was made.
    return review?.review_id != null && review.content !== null
      ? [entryJson(context, entry, review, explain?.reviews.get(entry.internalId))]
      : []
  })
  return (
    `{"merchant_id":${row.merchant_id},"chain_id":${chainId},"product_id":"${hex(row.product_id)}","name":${JSON.stringify(row.name)},` +
    `"product_score":${score},"sub_scores":{"intent_match":${intentMatch},"product_rank":${row.rank}},` +
    `${row.price === null ? '' : `"price_usdc":${row.price},`}"review_count":${row.review_count},` +
    `${meanAuthorRank === undefined ? '' : `"mean_author_rank":${meanAuthorRank},`}` +
    `${row.category === '' ? '' : `"category":${JSON.stringify(row.category)},`}` +
    `"reviews":${shown.length === 0 ? 'null' : `[${shown.join(',')}]`}` +
    `${moreExcluded ? `,"more_excluded":${moreExcluded}` : ''}${moreOverflow ? `,"more_overflow":${moreOverflow}` : ''}${explainJson(explain?.product)}}`
  )
}

function entryJson(
  context: Context,
  { slot, reason, authorRank, relevance, score }: Entry,
  review: ReviewRow,
  explain: ReviewExplanation | undefined,
): string {
  const { internal_id, review_id, content, is_shortened, published_at } = review
  return (
    `{"slot":"${slot}",${reason === undefined ? '' : `"excluded_reason":"${reason}",`}"internal_id":${internal_id},` +
    `"on_chain_id":${review_id},"content_json":${content},${is_shortened ? '"content_shortened":true,' : ''}"ref_link":${JSON.stringify(refLinkOf(context, review) ?? '')},` +
    `${published_at === null ? '' : `"published_at":"${time(published_at)}",`}` +
    `"author_rank":${authorRank},"relevance":${relevance},"score":${score}${explainJson(explain)}}`
  )
}
