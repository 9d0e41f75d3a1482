import { createCache, createLoader } from '@referrer/process'
import { dateOf, dayOf, type ProductType } from '@referrer/ranking'
import { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { wholeNumber } from '../../kit/fields.ts'
import { whole } from '../../kit/json-values.ts'
import type { AgentKey } from '../../kit/keys.ts'
import { MarketError } from '../../kit/market-error.ts'
import { baseUnits } from '../../kit/money.ts'
import type { Period } from '../../market/earnings/store.ts'
import { ListedReview } from '../../market/reviews/shapes.ts'
import { type PageQuery, pageShown, READ_AT_ONCE, readPage } from '../page.ts'
import { listedReviews, reviewFigures } from '../reviews.ts'
import { AgentCard, cardsOf } from './card.ts'
import { bestAgents, type Days, earningDays, isAgent, publishedBy } from './store.ts'

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

const nameOf = ({ chainId, type, page, limit }: BoardKey) => `${chainId}/${type}/${page}/${limit}`

/**
 * Everybody sees the same board, and ranks change with every vote: it is read once in a few seconds. Pages are read in turns, because
 * agents of the same rank are sorted, and there may be very many of them.
 */
export const leaderboard = once((context) =>
  createCache<BoardKey, string>({
    keyOf: nameOf,
    load: coalesceInTurns(READ_AT_ONCE, nameOf, async (key) => JSON.stringify(await readBoard(context, key))),
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

const readCard = once((context) =>
  createLoader<AgentKey, AgentCard | undefined>({
    keyOf: ({ chainId, agentId }) => `${chainId}/${agentId}`,
    load: async (keys) => {
      const read = async ([chainId, asked]: [number, AgentKey[]]) => {
        const ids = asked.map(({ agentId }) => agentId)
        return [chainId, await cardsOf(context, chainId, ids)] as const
      }
      const byChain = Map.groupBy(keys, ({ chainId }) => chainId)
      const cards = new Map(await Promise.all([...byChain].map(read)))
      return keys.map(({ chainId, agentId }) => cards.get(chainId)?.get(agentId))
    },
  }),
)

export async function agentCard(
  context: Context,
  { config: { chainId } }: Chain,
  agentId: bigint,
): Promise<AgentCard> {
  const card = await readCard(context)({ chainId, agentId })
  if (!card) throw notFound(agentId)
  return card
}

/** The published reviews of an agent, newest first, as JSON. */
export const reviewsOfAgent = once((context) =>
  coalesceInTurns<AgentKey & PageQuery, string>(
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
  context: Context,
  { config: { chainId } }: Chain,
  agentId: bigint,
  { from, to }: Period,
): Promise<z.output<typeof DailyEarnings>> {
  const { clock } = context
  // The end is exclusive: midnight ends the day before. Nothing was paid before 1970, and Postgres has no year 0.
  const last = Math.max(dayOf(to ? new Date(to.getTime() - 1) : new Date(clock())), -1)
  const first = Math.max(from ? dayOf(from) : last - DEFAULT_DAYS + 1, last - MOST_DAYS + 1, 0)
  // The chain's clock may be ahead of ours: without an end nothing that was paid is left out.
  return readDays(context)({ chainId, agentId, first: dateOf(first), ...(to && { last: dateOf(last) }) })
}

const readDays = once(({ sql }) =>
  coalesceInTurns<AgentKey & Days, z.output<typeof DailyEarnings>>(
    READ_AT_ONCE,
    ({ chainId, agentId, first, last }) => `${chainId}/${agentId}/${first}/${last}`,
    async ({ chainId, agentId, ...days }) => {
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
    },
  ),
)
