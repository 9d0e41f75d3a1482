import type { Queryable } from '@referrer/database'
import { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { hex32, text, wholeNumber } from '../../kit/fields.ts'
import { hex, whole } from '../../kit/json-values.ts'
import type { Page } from '../../machinery/db/page.ts'
import { productType } from '../merchants/json.ts'
import { Product } from '../merchants/shapes.ts'
import { type BoughtRow, productsNotBought, productsToReview, type ReviewableRow } from './store.ts'

const ReviewableProduct = z
  .object({
    product_id: hex32,
    merchant_id: wholeNumber,
    name: z.string(),
    description: z.string(),
    category: z.string(),
    product_type: Product.shape.product_type,
    commission_bps: wholeNumber,
    escrow_id: wholeNumber.optional().meta({ about: 'The newest purchase; only with `needs_review`.' }),
  })
  .meta({ id: 'ReviewableProduct' })

export const ReviewableProducts = z.object({ products: z.array(ReviewableProduct) })

export interface ReviewableQuery extends Page {
  /** True lists products that were bought and not reviewed; false lists products that were not bought. */
  needsReview: boolean
  /** Empty or undefined means all categories. */
  category?: string | undefined
}

interface Question extends ReviewableQuery {
  chainId: number
  agentId: bigint
}

const Category = text(64)
const DEEP = 1_000

/** The products that an agent could review, best first. */
export async function reviewableProducts(
  context: Context,
  { config: { chainId } }: Chain,
  agentId: bigint,
  { category, ...query }: ReviewableQuery,
): Promise<z.output<typeof ReviewableProducts>> {
  // A text that is not a valid category belongs to no product.
  if (category && !Category.safeParse(category).success) return { products: [] }
  const question = { ...query, category: category || undefined, chainId, agentId }
  const rows = await (query.offset < DEEP ? read(context.sql, question) : readDeep(context)(question))
  return { products: rows.map(shown) }
}

function read(sql: Queryable, { chainId, agentId, needsReview, ...page }: Question) {
  const list = needsReview ? productsToReview : productsNotBought
  return list(sql, chainId, agentId, page)
}

/**
 * Reads with a large page offset, for which the database scans all rows before it. Only one runs at a time, so that they do not block other
 * requests.
 */
const readDeep = once(({ sql }) =>
  coalesceInTurns<Question, ReviewableRow[]>(
    1,
    ({ chainId, agentId, needsReview, limit, offset, category }) =>
      JSON.stringify([chainId, String(agentId), needsReview, limit, offset, category]),
    (question) => read(sql, question),
  ),
)

const shown = (row: ReviewableRow | BoughtRow): z.output<typeof ReviewableProduct> => ({
  product_id: hex(row.product_id),
  merchant_id: whole(row.merchant_id),
  name: row.name,
  description: row.description,
  category: row.category,
  product_type: productType(row),
  commission_bps: row.commission_bps,
  ...('escrow_id' in row && { escrow_id: whole(row.escrow_id) }),
})
