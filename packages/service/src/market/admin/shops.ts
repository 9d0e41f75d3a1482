import { z } from 'zod'
import { accountShown, id, momentShown, optional, page, wholeNumber, words } from '../../kit/fields.ts'
import { address, time, whole } from '../../kit/json-values.ts'
import { baseUnits } from '../../kit/money.ts'
import { type Route, route } from '../../kit/route.ts'
import { offsetOf } from '../../machinery/db/page.ts'
import { FILTERS, listShops, type ShopState } from '../verifications/store.ts'
import { listed } from './fields.ts'
import { decideOnShop } from './operations.ts'

const decision = {
  is_verified: z.boolean().meta({ about: 'Whether a verification is in force.' }),
  note: z.string().nullable().meta({ about: 'Of the last decision; null: there is none.' }),
  decided_at: momentShown.nullable(),
}

const Shop = z
  .object({
    merchant_id: wholeNumber,
    owner: accountShown,
    purchases: wholeNumber,
    revenue_usdc: baseUnits('What buyers paid'),
    ...decision,
    decided_by: accountShown.nullable(),
    standing: wholeNumber
      .nullable()
      .meta({ about: 'In millionths, as last computed; null: no shop is verified, or nobody bought here.' }),
  })
  .meta({ id: 'ShopCase' })

const Decided = z
  .object({
    merchant_id: wholeNumber,
    has_changed: z.boolean().meta({ about: 'False: it was so already, and nothing was written.' }),
    ...decision,
  })
  .meta({ id: 'ShopDecision' })

const decisionRoute = (action: 'verify' | 'withdraw', summary: string, about: string) =>
  route({
    method: 'POST',
    path: `/admin/shops/{merchant_id}/${action}`,
    tag: 'Admin',
    summary,
    about,
    auth: 'admin',
    params: z.object({ merchant_id: id(0, 'invalid merchant id', 'The shop.') }),
    body: {
      schema: z.object({ note: words(500).meta({ about: 'Why. Everybody can read it.' }) }),
      refusal: 'note required',
    },
    takesChain: true,
    response: Decided,
    refusals: { 404: 'not found' },
    async handle(call) {
      const { merchant_id } = call.params
      const isVerified = action === 'verify'
      const { hasChanged, state } = await decideOnShop(call, merchant_id, {
        isVerified,
        note: call.body.note,
      })
      return { merchant_id: whole(merchant_id), has_changed: hasChanged, ...stateJson(state) }
    },
  })

export const adminShopRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/admin/shops',
    tag: 'Admin',
    summary: 'Open shops, and whether they are verified, by ascending id',
    auth: 'admin',
    query: z.object({
      state: z.enum(FILTERS).default('all').meta({ about: 'Which ones.' }),
      merchant_id: optional(id(0, 'invalid merchant_id', 'Only this one.')),
      page,
      limit: listed(20, 100),
    }),
    takesChain: true,
    response: z
      .object({ shops: z.array(Shop), page: wholeNumber, limit: wholeNumber })
      .meta({ id: 'ShopCases' }),
    async handle({ context, chain, query: { state, merchant_id, page, limit } }) {
      const offset = offsetOf({ page, limit })
      const asked = { filter: state, merchantId: merchant_id, limit, offset }
      const rows = await listShops(context.sql, chain.config.chainId, asked)
      const account = (bytes: Buffer) => address(context.recovery, bytes)
      const shops = rows.map((row) => ({
        merchant_id: whole(row.merchant_id),
        owner: account(row.owner),
        purchases: whole(row.purchases),
        revenue_usdc: whole(row.revenue),
        ...stateJson(row),
        decided_by: row.decided_by && account(row.decided_by),
        standing: row.standing,
      }))
      return { shops, page, limit }
    },
  }),
  decisionRoute(
    'verify',
    'Verify a shop: standings rest on it',
    'It holds until it is withdrawn or the shop changes its owner. Standings are computed anew at once.',
  ),
  decisionRoute('withdraw', 'Take the verification of a shop back', 'Standings are computed anew at once.'),
]

const stateJson = ({ is_verified, note, decided_at }: ShopState) => ({
  is_verified,
  note,
  decided_at: decided_at && time(decided_at),
})
