import { z } from 'zod'
import { account, clamp, id, integer, optional } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { ownerStanding, shopStanding, standingSummary } from './operations.ts'
import { type Entry, ownerStandings, shopStandings, spendingEntries } from './pages.ts'
import {
  OwnerStanding,
  OwnerStandings,
  ShopStanding,
  ShopStandings,
  SpendingEntries,
  StandingSummary,
} from './shapes.ts'

const ENTRY = /^(0x[0-9a-fA-F]{40})\/(\d{1,15})$/
const NOBODY = Buffer.alloc(0)
const IN_FULL =
  'Standings count from the day on which the operator verifies a first shop. While no shop is verified, everything counts in full.'

const limit = integer(100, 'How many, 1 to 1000.', clamp(1, 1_000))
const afterOwner = optional(account('invalid after', 'The `next` of the page before.'))
const afterShop = optional(id(0, 'invalid after', 'The `next` of the page before.'))
const afterEntry = z
  .string()
  .regex(ENTRY)
  .transform((text): Entry => {
    const [, owner = '', merchantId = ''] = ENTRY.exec(text) ?? []
    return { owner: bytesOf(owner as `0x${string}`), merchant_id: BigInt(merchantId) }
  })
  .optional()
  .meta({
    refusal: 'invalid after',
    about: 'The `next` of the page before.',
    shown: { type: 'string', pattern: ENTRY.source },
  })

const ofStanding = { method: 'GET', tag: 'Standing', auth: 'none', takesChain: true } as const

export const standingRoutes: Route[] = [
  route({
    ...ofStanding,
    path: '/v1/standing',
    summary: 'Whether standings count, and what they were last computed from',
    about: `${IN_FULL} They are computed once a day, and again when the operator verifies shops or a verified shop is sold.`,
    response: StandingSummary,
    handle: ({ context, chain }) => standingSummary(context, chain),
  }),
  route({
    ...ofStanding,
    path: '/v1/standing/owner/{address}',
    summary: 'The standing of an owner, and the spending it comes from',
    about: IN_FULL,
    params: z.object({ address: account('invalid address', 'The owner.') }),
    response: OwnerStanding,
    handle: ({ context, chain, params }) =>
      ownerStanding(context)({ chainId: chain.config.chainId, owner: bytesOf(params.address) }),
  }),
  route({
    ...ofStanding,
    path: '/v1/standing/shop/{merchant_id}',
    summary: 'The standing of a shop, and the customers it comes from',
    about: IN_FULL,
    params: z.object({ merchant_id: id(0, 'invalid merchant id', 'The merchant.') }),
    response: ShopStanding,
    refusals: { 404: 'merchant not found' },
    handle: ({ context, chain, params }) =>
      shopStanding(context)({ chainId: chain.config.chainId, merchantId: params.merchant_id }),
  }),
  route({
    ...ofStanding,
    path: '/v1/standing/owners',
    summary: 'The standings of all owners',
    about: 'Ordered by address. Pages of different `pass` do not belong together.',
    query: z.object({ after: afterOwner, limit }),
    response: OwnerStandings,
    handle: ({ context, chain, query }) =>
      ownerStandings(context)({
        chainId: chain.config.chainId,
        after: query.after ? bytesOf(query.after) : NOBODY,
        limit: query.limit,
      }),
  }),
  route({
    ...ofStanding,
    path: '/v1/standing/shops',
    summary: 'The standings of all shops',
    about: 'Ordered by `merchant_id`. Pages of different `pass` do not belong together.',
    query: z.object({ after: afterShop, limit }),
    response: ShopStandings,
    handle: ({ context, chain, query }) =>
      shopStandings(context)({
        chainId: chain.config.chainId,
        after: query.after ?? -1n,
        limit: query.limit,
      }),
  }),
  route({
    ...ofStanding,
    path: '/v1/standing/spending',
    summary: 'What owners spent at shops that are not their own',
    about:
      'All that standings are computed from, ordered by owner and `merchant_id`. What has faded to 0 does not count. Purchases since the last computation are included.',
    query: z.object({ after: afterEntry, limit }),
    response: SpendingEntries,
    handle: ({ context, chain, query }) =>
      spendingEntries(context)({
        chainId: chain.config.chainId,
        after: query.after ?? { owner: NOBODY, merchant_id: -1n },
        limit: query.limit,
      }),
  }),
]
