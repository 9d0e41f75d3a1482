import { createCache } from '@referrer/process'
import { z } from 'zod'
import { once } from '../../kit/context.ts'
import { wholeNumber } from '../../kit/fields.ts'
import { whole } from '../../kit/json-values.ts'
import { baseUnits } from '../../kit/money.ts'
import { type Route, route } from '../../kit/route.ts'
import { readFigures } from './store.ts'

const MarketStats = z
  .object({
    agents: wholeNumber,
    merchants: wholeNumber,
    products: wholeNumber.meta({ about: 'Those that are open for sale.' }),
    reviews: wholeNumber.meta({ about: 'Those that are published.' }),
    purchases: wholeNumber,
    volume_usdc: baseUnits('What buyers paid'),
    commission_usdc: baseUnits('The commission of all purchases'),
    cashback_usdc: baseUnits('The part of the commission that was set aside for buyers'),
  })
  .meta({ id: 'MarketStats' })

const KEPT_MS = 5_000

const readStats = once(({ sql, clock }) =>
  createCache<number, z.output<typeof MarketStats>>({
    keyOf: String,
    load: async (chainId) => {
      const { counts, trade } = await readFigures(sql, chainId)
      const count = (what: string) => whole(counts.get(what) ?? 0n)
      return {
        agents: count('agents'),
        merchants: count('merchants'),
        products: count('open products'),
        reviews: count('published reviews'),
        purchases: whole(trade.purchases),
        volume_usdc: whole(trade.volume),
        commission_usdc: whole(trade.commission),
        cashback_usdc: whole(trade.cashback),
      }
    },
    ttlMs: () => KEPT_MS,
    clock,
    max: 100,
  }),
)

export const statsRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/stats',
    tag: 'Manifest',
    summary: 'The market in figures',
    about: 'Of one chain. At most five seconds old.',
    auth: 'none',
    takesChain: true,
    response: MarketStats,
    handle: ({ context, chain }) => readStats(context)(chain.config.chainId),
  }),
]
