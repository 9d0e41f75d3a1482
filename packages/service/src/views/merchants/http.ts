import { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { once } from '../../kit/context.ts'
import { id, wholeNumber } from '../../kit/fields.ts'
import { whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { shownMerchant } from '../../market/merchants/json.ts'
import { LISTED_PRODUCT_IDS } from '../../market/merchants/operations.ts'
import { notFound } from '../../market/merchants/refusals.ts'
import { Merchant } from '../../market/merchants/shapes.ts'
import { findMerchant, productIdsOf, salesOf } from '../../market/merchants/store.ts'
import { READ_AT_ONCE } from '../page.ts'
import { reputationOf } from './store.ts'

const MerchantSummary = z
  .object({
    merchant: Merchant,
    products_total: wholeNumber.meta({ about: 'Open and closed ones.' }),
    sales_count: wholeNumber,
    reviews_count: wholeNumber.meta({ about: 'Published reviews of its products.' }),
    product_rank_mean: z
      .number()
      .nullable()
      .meta({ about: 'The mean Product Rank of its products; null: it has none.' }),
  })
  .meta({ id: 'MerchantSummary' })

/** In turns, because a merchant may have thousands of products. */
const readSummary = once((context) =>
  coalesceInTurns<{ chainId: number; merchantId: bigint }, z.output<typeof MerchantSummary>>(
    READ_AT_ONCE,
    ({ chainId, merchantId }) => `${chainId}/${merchantId}`,
    async ({ chainId, merchantId }) => {
      const { sql } = context
      const [row, productIds, sales, { reviews, rank }] = await Promise.all([
        findMerchant(sql, chainId, merchantId),
        productIdsOf(sql, chainId, [merchantId], LISTED_PRODUCT_IDS),
        salesOf(sql, chainId, merchantId),
        reputationOf(sql, chainId, merchantId),
      ])
      if (!row) throw notFound()
      return {
        merchant: shownMerchant(context, chainId, row, productIds.get(merchantId) ?? []),
        products_total: whole(sales.products_total),
        sales_count: whole(sales.conversions),
        reviews_count: whole(reviews),
        product_rank_mean: rank,
      }
    },
  ),
)

export const merchantViewRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/merchant/{id}/summary',
    tag: 'Merchants',
    summary: 'A merchant with the figures of its trade',
    about: `\`product_ids\` are the first ${LISTED_PRODUCT_IDS}.`,
    auth: 'none',
    params: z.object({ id: id(0, 'invalid merchant id', 'The merchant.') }),
    takesChain: true,
    response: MerchantSummary,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params }) =>
      readSummary(context)({ chainId: chain.config.chainId, merchantId: params.id }),
  }),
]
