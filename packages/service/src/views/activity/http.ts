import { createCache } from '@referrer/process'
import { z } from 'zod'
import { type Context, once } from '../../kit/context.ts'
import { id, optional } from '../../kit/fields.ts'
import { MarketError } from '../../kit/market-error.ts'
import { type Route, route } from '../../kit/route.ts'
import { Purchase, shownPurchase } from '../../market/escrows/purchase.ts'
import { hasMore, limit } from '../page.ts'
import { newestReviewsRoute } from './reviews.ts'
import { findPurchase, newestPurchases } from './store.ts'

const Activity = z.object({ purchases: z.array(Purchase), has_more: hasMore }).meta({ id: 'Activity' })

interface Asked {
  chainId: number
  before: bigint | undefined
  limit: number
}

/** Pages poll the newest purchases every few seconds: all of them share one read. */
const KEPT_MS = 2_000
const KEPT = 200

const readActivity = once((context) =>
  createCache<Asked, string>({
    keyOf: ({ chainId, before, limit }) => `${chainId}/${before}/${limit}`,
    load: async (asked) => JSON.stringify(await activity(context, asked)),
    ttlMs: () => KEPT_MS,
    clock: context.clock,
    max: KEPT,
  }),
)

async function activity(
  context: Context,
  { chainId, before, limit }: Asked,
): Promise<z.output<typeof Activity>> {
  const { sql } = context
  const from = before === undefined ? undefined : await findPurchase(sql, chainId, before)
  if (before !== undefined && !from) throw new MarketError('not found', `escrow ${before} not found`)
  const rows = await newestPurchases(sql, chainId, from, limit + 1)
  const purchases = rows.slice(0, limit).map((row) => shownPurchase(context, row))
  return { purchases, has_more: rows.length > limit }
}

export const activityRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/activity',
    tag: 'Earnings and escrows',
    summary: 'The newest purchases',
    about:
      'Newest first. For the next page set `before` to the last `escrow_id`. The answer is at most two seconds old and has an ETag: poll with `If-None-Match`, and 304 says that nothing has changed.',
    auth: 'none',
    query: z.object({
      limit,
      before: optional(id(1, 'invalid before', 'An escrow id: only older purchases.')),
    }),
    takesChain: true,
    hasEtag: true,
    response: Activity,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, query }) =>
      readActivity(context)({ chainId: chain.config.chainId, before: query.before, limit: query.limit }),
  }),
  newestReviewsRoute,
]
