// What a merchant sold, for its owner.
import { dateOf, dayOf } from '@referrer/ranking'
import { keccak256, stringToBytes } from 'viem'
import { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { once } from '../../kit/context.ts'
import { accountShown, hex32, id, wholeNumber } from '../../kit/fields.ts'
import { address, hex, whole } from '../../kit/json-values.ts'
import { baseUnits } from '../../kit/money.ts'
import { type Route, route } from '../../kit/route.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { period } from '../../market/earnings/operations.ts'
import type { Period } from '../../market/earnings/store.ts'
import { Purchase, shownPurchase } from '../../market/escrows/purchase.ts'
import { requireMerchantOwner } from '../../market/merchants/operations.ts'
import { LONGEST_LIST, pageFields, pageShown, READ_AT_ONCE, readPage } from '../page.ts'
import {
  accountsWithRole,
  type DayRow,
  type Days,
  listSales,
  type ProductFigures,
  salesByDay,
  salesByProduct,
} from './store.ts'

const tag = 'Merchants'
const params = z.object({ id: id(0, 'invalid merchant id', 'The merchant.') })
const refusals = { 403: 'caller does not own this merchant', 404: 'merchant not found' }

/** Longest period of a chart, in days. */
const MOST_DAYS = 366
const USUAL_DAYS = 90
/** Limit for the products in the list of payouts. */
const MOST_PRODUCTS = 500
const MOST_SIGNERS = 100
const SETTLEMENT_SIGNER_ROLE = bytesOf(keccak256(stringToBytes('SETTLEMENT_SIGNER_ROLE')))

const money = {
  revenue_usdc: baseUnits('What buyers paid'),
  commission_usdc: baseUnits('What the merchant paid for referrals, with the fee of the platform'),
  net_usdc: baseUnits('What went to the payout wallet'),
}

const Sales = z
  .object({
    days: z
      .array(
        z.object({
          day: z.string().meta({ shown: { type: 'string', format: 'date' } }),
          count: wholeNumber,
          ...money,
        }),
      )
      .meta({ about: 'In UTC; only days with a sale.' }),
    sales: z.array(Purchase),
    ...pageShown,
  })
  .meta({ id: 'MerchantSales' })

const Payouts = z
  .object({
    products: z.array(
      z.object({
        product_id: hex32,
        name: z.string().meta({ about: 'Empty until the merchant describes the product.' }),
        sales_count: wholeNumber,
        revenue_usdc: money.revenue_usdc,
        commission_usdc: money.commission_usdc,
        fee_usdc: baseUnits('The part of the commission that the platform got'),
        net_usdc: money.net_usdc,
      }),
    ),
  })
  .meta({ id: 'MerchantPayouts' })

const Signers = z.object({ signers: z.array(accountShown) }).meta({ id: 'MerchantSigners' })

export const shopRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/merchant/{id}/sales',
    tag,
    summary: 'The sales of a merchant in a period, by day and one by one',
    about: `For its owner. Days of UTC: the last ${USUAL_DAYS} when no period is given, and of a longer period the last ${MOST_DAYS}. Sales are newest first, and their list ends after ${LONGEST_LIST}.`,
    auth: 'session',
    params,
    query: z.object({
      ...period,
      ...pageFields,
    }),
    takesChain: true,
    response: Sales,
    refusals,
    async handle({ context, chain, caller, params, query }) {
      const { sql, clock } = context
      const { chainId } = chain.config
      await requireMerchantOwner(sql, chainId, caller, params.id)
      const days = daysOf(query, clock())
      const [byDay, { rows, ...shown }] = await Promise.all([
        readDays(context)({ chainId, merchantId: params.id, ...days }),
        readPage(query, (part) => listSales(sql, chainId, params.id, { ...days, ...part })),
      ])
      return {
        days: byDay.map(({ day, count, ...figures }) => ({ day, count: whole(count), ...moneyOf(figures) })),
        sales: rows.map((row) => shownPurchase(context, row)),
        ...shown,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/v1/merchant/{id}/payouts',
    tag,
    summary: 'What went to the payout wallet of a merchant, by product',
    about: `For its owner. At most ${MOST_PRODUCTS} products, the greatest revenue first.`,
    auth: 'session',
    params,
    takesChain: true,
    response: Payouts,
    refusals,
    async handle({ context, chain, caller, params }) {
      const { chainId } = chain.config
      await requireMerchantOwner(context.sql, chainId, caller, params.id)
      const rows = await readProducts(context)({ chainId, merchantId: params.id })
      const products = rows.map(({ product_id, name, count, fee, ...figures }) => ({
        product_id: hex(product_id),
        name: name ?? '',
        sales_count: whole(count),
        ...moneyOf(figures),
        fee_usdc: whole(fee),
      }))
      return { products }
    },
  }),
  route({
    method: 'GET',
    path: '/v1/merchant/{id}/signers',
    tag,
    summary: 'The hot keys that may ask for settlements in the name of a merchant',
    about: `As its present owner granted them on the chain. At most ${MOST_SIGNERS}.`,
    auth: 'none',
    params,
    takesChain: true,
    response: Signers,
    async handle({ context, chain, params }) {
      const accounts = await readSigners(context)({ chainId: chain.config.chainId, merchantId: params.id })
      return { signers: accounts.map((account) => address(context.recovery, account)) }
    },
  }),
]

interface MerchantKey {
  chainId: number
  merchantId: bigint
}
const nameOf = ({ chainId, merchantId }: MerchantKey) => `${chainId}/${merchantId}`

// In turns, because a merchant may have sold thousands of products on hundreds of days, and have revoked as many signers.
const readDays = once(({ sql }) =>
  coalesceInTurns<MerchantKey & Days, DayRow[]>(
    READ_AT_ONCE,
    (key) => `${nameOf(key)}/${key.first}/${key.last}`,
    ({ chainId, merchantId, ...days }) => salesByDay(sql, chainId, merchantId, days),
  ),
)
const readProducts = once(({ sql }) =>
  coalesceInTurns<MerchantKey, ProductFigures[]>(READ_AT_ONCE, nameOf, ({ chainId, merchantId }) =>
    salesByProduct(sql, chainId, merchantId, MOST_PRODUCTS),
  ),
)
const readSigners = once(({ sql }) =>
  coalesceInTurns<MerchantKey, Buffer[]>(READ_AT_ONCE, nameOf, ({ chainId, merchantId }) =>
    accountsWithRole(sql, chainId, merchantId, SETTLEMENT_SIGNER_ROLE, MOST_SIGNERS),
  ),
)

/** The fee is a part of the commission. */
const moneyOf = ({ revenue, commission }: { revenue: bigint; commission: bigint }) => ({
  revenue_usdc: whole(revenue),
  commission_usdc: whole(commission),
  net_usdc: whole(revenue - commission),
})

/** The days of a period, both included; of a period that is too long the last ones. */
function daysOf({ from, to }: Period, nowMs: number): Days {
  // The end is exclusive: midnight ends the day before.
  const last = Math.max(dayOf(to ? new Date(to.getTime() - 1) : new Date(nowMs)), 0)
  const first = Math.max(from ? dayOf(from) : last - USUAL_DAYS + 1, last - MOST_DAYS + 1, 0)
  return { first: dateOf(first), last: dateOf(last) }
}
