// The figures of a year that are compared over seeds, and with the rules as they are without verified shops.
import { BASE_RATES, MILLION, PRODUCT_TYPES, type ProductType } from '@referrer/ranking'
import type { Agent } from '../records.ts'
import type { RingStyle, World } from './world.ts'

export type Figures = {
  style: RingStyle
  seed: number
  types: Record<
    ProductType,
    {
      honest: number
      colluding: number
      /**
       * The part of all pairs of a ranked honest agent and a colluding one in which the honest one is above. A colluding
       * agent without a rank has that of a newcomer.
       */
      pairs: number
      newcomers: number
      nicheVerified: number
      nicheUnverified: number
    }
  >
  /** How many purchases a newcomer makes until its first rank, on average, and how many newcomers never get one. */
  coldStart: { mean: number; never: number }
  /** How far the Product Ranks of honest shops are from the true quality on average, verified shops and others. */
  productError: { verified: number; unverified: number }
}

export function figuresOf(world: World, seed: number): Figures {
  const { style, honest, ringOf, roles } = world
  const withRole = (isRole: (role: ReturnType<typeof roles.get>) => boolean) =>
    honest.filter((agent) => isRole(roles.get(agent)))
  const ofType = (type: ProductType) => {
    const inForce = ({ ranks }: Agent) => ranks[type] ?? BASE_RATES[type]
    const ranked = honest.flatMap(({ ranks, flagged }) => (flagged ? [] : (ranks[type] ?? [])))
    const colluding = [...ringOf.keys()].filter(({ flagged }) => !flagged).map(inForce)
    return {
      honest: mean(ranked),
      colluding: mean(colluding),
      pairs: pairsAbove(ranked, colluding),
      newcomers: mean(withRole((role) => role?.what === 'newcomer').map(inForce)),
      nicheVerified: mean(withRole((role) => role?.what === 'niche' && role.isVerified).map(inForce)),
      nicheUnverified: mean(withRole((role) => role?.what === 'niche' && !role.isVerified).map(inForce)),
    }
  }
  return {
    style,
    seed,
    types: { repeat: ofType(PRODUCT_TYPES[0]), one_off: ofType(PRODUCT_TYPES[1]) },
    coldStart: coldStartOf(world),
    productError: { verified: errorOf(world, true), unverified: errorOf(world, false) },
  }
}

function coldStartOf({ honest, roles, coldStarts }: World): Figures['coldStart'] {
  const newcomers = honest.filter((agent) => roles.get(agent)?.what === 'newcomer')
  const took = newcomers.flatMap((agent) => coldStarts.get(agent) ?? [])
  return { mean: mean(took), never: newcomers.length - took.length }
}

function errorOf({ market, rings, quality }: World, isVerified: boolean): number {
  const ofRings = new Set(rings.flatMap(({ products }) => products))
  const errors = market.products
    .filter(
      (product) => !ofRings.has(product) && market.standings.isVerified(product.merchant) === isVerified,
    )
    .map((product) => Math.abs(market.opinions.rankOf(product) - (quality.get(product) ?? 0)) / MILLION)
  return mean(errors)
}

function pairsAbove(ones: readonly number[], others: readonly number[]): number {
  const above = ones.map((one) => others.filter((other) => other < one).length)
  return above.reduce((sum, count) => sum + count, 0) / (ones.length * others.length)
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
