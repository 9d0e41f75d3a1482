import { createLoader } from '@referrer/process'
import { BASE_RATES, effectiveRank, multiplierBps, type ProductType } from '@referrer/ranking'
import { z } from 'zod'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { wholeNumber } from '../../kit/fields.ts'
import type { AgentKey } from '../../kit/keys.ts'
import { type MeansRow, meanRanksOf, type RankRow, ranksOf } from './store.ts'

const Rank = z
  .object({
    rank: z.number().nullable().meta({ about: 'From 0 to 1; null until there is evidence.' }),
    commission_multiplier_bps: wholeNumber.meta({
      about: '4000 + 6000 × rank; at a cold start, of the base rate.',
    }),
    cold_start: z.boolean(),
  })
  .meta({ id: 'Rank' })

export const ReviewRank = z
  .object({
    repeat: Rank,
    one_off: Rank,
    platform_mean_repeat: z.number(),
    platform_mean_one_off: z.number(),
    flagged: z.boolean(),
  })
  .meta({ id: 'ReviewRank' })

export const MeanRanks = z.object({ one_off: z.number(), repeat: z.number() }).meta({ id: 'MeanRanks' })

const readRanks = once(({ sql }) =>
  createLoader<AgentKey, RankRow>({
    keyOf: ({ chainId, agentId }) => `${chainId}/${agentId}`,
    load: (agents) => ranksOf(sql, agents),
  }),
)
const readMeans = once(({ sql }) =>
  createLoader<number, MeansRow>({
    keyOf: (chainId) => chainId,
    load: (chainIds) => meanRanksOf(sql, chainIds),
  }),
)

/** An unknown agent is at its cold start. */
export async function reviewRank(
  context: Context,
  { config: { chainId } }: Chain,
  agentId: bigint,
): Promise<z.output<typeof ReviewRank>> {
  return reviewRankOf(await readRanks(context)({ chainId, agentId }))
}

export function reviewRankOf(row: RankRow): z.output<typeof ReviewRank> {
  const { repeat, one_off } = shownMeans(row)
  return {
    repeat: shownRank('repeat', row),
    one_off: shownRank('one_off', row),
    platform_mean_repeat: repeat,
    platform_mean_one_off: one_off,
    flagged: row.flagged,
  }
}

export async function meanRanks(
  context: Context,
  { config: { chainId } }: Chain,
): Promise<z.output<typeof MeanRanks>> {
  return shownMeans(await readMeans(context)(chainId))
}

function shownRank(type: ProductType, row: RankRow): z.output<typeof Rank> {
  const rank = effectiveRank(row.flagged, row[type])
  return {
    rank,
    commission_multiplier_bps: multiplierBps(rank ?? BASE_RATES[type]),
    cold_start: rank === null,
  }
}

const shownMeans = ({ mean_one_off, mean_repeat }: MeansRow): z.output<typeof MeanRanks> => ({
  one_off: mean_one_off ?? BASE_RATES.one_off,
  repeat: mean_repeat ?? BASE_RATES.repeat,
})
