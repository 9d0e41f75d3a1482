import { createCache } from '@referrer/process'
import { dateOf, dayOf, type ProductType } from '@referrer/ranking'
import { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { wholeNumber } from '../../kit/fields.ts'
import { whole } from '../../kit/json-values.ts'
import { MarketError } from '../../kit/market-error.ts'
import { baseUnits } from '../../kit/money.ts'
import type { Period } from '../../market/earnings/store.ts'
import { ListedReview } from '../../market/reviews/shapes.ts'
import { type PageQuery, pageShown, READ_AT_ONCE, readPage } from '../page.ts'
import { listedReviews, reviewFigures } from '../reviews.ts'
import { AgentCard, cardsOf } from './card.ts'
import { bestAgents, earningDays, isAgent, publishedBy } from './store.ts'

export const Leaderboard = z
  .object({
    type: z.enum(['repeat', 'one_off']),
    agents: z.array(AgentCard.extend({ position: wholeNumber.meta({ about: 'From 1.' }) })),
    ...pageShown,
  })
  .meta({ id: 'Leaderboard' })

export const ReviewsOfAgent = z
  .object({
    reviews: z.array(ListedReview.extend({ product_name: z.string(), ...reviewFigures })),
    ...pageShown,
  })
  .meta({ id: 'ReviewsOfAgent' })

export const DailyEarnings = z
  .object({
    days: z.array(
      z.object({
        day: z.string().meta({ about: 'In UTC.', shown: { type: 'string', format: 'date' } }),
        commission_immediate: baseUnits('Paid with sales of this day'),
        commission_settled: baseUnits('Paid with settlements of this day'),
        cashback: baseUnits('Paid to the agent as a buyer'),
        sales: wholeNumber.meta({ about: 'Purchases through its reviews.' }),
      }),
    ),
  })
  .meta({ id: 'DailyEarnings' })

const notFound = (agentId: bigint) => new MarketError('not found', `agent ${agentId} not found`)

interface BoardKey extends PageQuery {
  chainId: number
  type: ProductType
}

const KEPT_MS = 5_000
const KEPT = 200

/** Everybody sees the same board, and ranks change with every vote: it is read once in a few seconds. */
export const leaderboard = once((context) =>
  createCache<BoardKey, string>({
    keyOf: ({ chainId, type, page, limit }) => `${chainId}/${type}/${page}/${limit}`,
    load: async (key) => JSON.stringify(await readBoard(context, key)),
    ttlMs: () => KEPT_MS,
    clock: context.clock,
    max: KEPT,
  }),
)

async function readBoard(
  context: Context,
  { chainId, type, page, limit }: BoardKey,
): Promise<z.output<typeof Leaderboard>> {
  const { rows: ids, ...shown } = await readPage({ page, limit }, (part) =>
    bestAgents(context.sql, chainId, type, part),
  )
  const cards = await cardsOf(context, chainId, ids)
  const first = (page - 1) * limit + 1
  const agents = ids.flatMap((agentId, at) => {
    const card = cards.get(agentId)
    return card ? [{ ...card, position: first + at }] : []
  })
  return { type, agents, ...shown }
}

export async function agentCard(
  context: Context,
  { config: { chainId } }: Chain,
  agentId: bigint,
): Promise<AgentCard> {
  const card = (await cardsOf(context, chainId, [agentId])).get(agentId)
  if (!card) throw notFound(agentId)
  return card
}

interface AgentPage extends PageQuery {
  chainId: number
  agentId: bigint
}

/** The published reviews of an agent, newest first, as JSON. */
export const reviewsOfAgent = once((context) =>
  coalesceInTurns<AgentPage, string>(
    READ_AT_ONCE,
    ({ chainId, agentId, page, limit }) => `${chainId}/${agentId}/${page}/${limit}`,
    async ({ chainId, agentId, page, limit }) => {
      const { sql } = context
      const [{ rows, has_more }, isKnown] = await Promise.all([
        readPage({ page, limit }, (part) => publishedBy(sql, chainId, agentId, part)),
        isAgent(sql, chainId, agentId),
      ])
      if (!isKnown) throw notFound(agentId)
      const reviews = await listedReviews(context, rows, ({ product_name }) => ({ product_name }))
      return `{"reviews":${reviews},"page":${page},"limit":${limit},"has_more":${has_more}}`
    },
  ),
)

const MOST_DAYS = 366
const DEFAULT_DAYS = 90

/** What an agent was paid on each day of a period: of the last 90 days when none is given, of 366 at most. */
export async function dailyEarnings(
  { sql, clock }: Pick<Context, 'sql' | 'clock'>,
  { config: { chainId } }: Chain,
  agentId: bigint,
  { from, to }: Period,
): Promise<z.output<typeof DailyEarnings>> {
  // The end is exclusive: midnight ends the day before. Nothing was paid before 1970, and Postgres has no year 0.
  const last = Math.max(dayOf(to ? new Date(to.getTime() - 1) : new Date(clock())), -1)
  const first = Math.max(from ? dayOf(from) : last - DEFAULT_DAYS + 1, last - MOST_DAYS + 1, 0)
  // The chain's clock may be ahead of ours: without an end nothing that was paid is left out.
  const days = { first: dateOf(first), ...(to && { last: dateOf(last) }) }
  const [rows, isKnown] = await Promise.all([
    earningDays(sql, chainId, agentId, days),
    isAgent(sql, chainId, agentId),
  ])
  if (!isKnown) throw notFound(agentId)
  const paid = rows.map(({ day, immediate, settled, cashback, sales }) => ({
    day,
    commission_immediate: whole(immediate),
    commission_settled: whole(settled),
    cashback: whole(cashback),
    sales: whole(sales),
  }))
  return { days: paid }
}
