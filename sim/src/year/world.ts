import { MILLION, PRODUCT_TYPES } from '@referrer/ranking'
import { Market } from '../market.ts'
import type { Random } from '../random.ts'
import type { Agent, Owner, Product } from '../records.ts'
import { THE_RULES } from '../rules.ts'
import type { Design } from '../standings.ts'

export const START = Date.UTC(2026, 0, 1)

export type Scale = { agents: number; products: number; purchases: number }
export const FULL_SCALE: Scale = { agents: 1_000, products: 200, purchases: 50_000 }

export const scaled = (share: number): Scale => ({
  agents: Math.round(FULL_SCALE.agents * share),
  products: Math.round(FULL_SCALE.products * share),
  purchases: Math.round(FULL_SCALE.purchases * share),
})

/** Agents of different owners who collude, and the products that they want to sell. */
export type Ring = { members: Agent[]; products: Product[] }

/**
 * A loud ring sells bad products to buyers who believe its praise, and gives bad ratings to others. A quiet ring
 * sells only to itself, is honest about everything else, and raises its ranks by votes and confirmations at its own
 * shop.
 */
export type RingStyle = 'loud' | 'quiet'

/**
 * The part of honest shops that the operator has verified, and how standings are computed. `isIgnored`: ranks are
 * computed as if no shop were verified.
 */
export type Trust = { verified: number; design?: Design; isIgnored?: boolean }

/**
 * Honest agents with little to show. A newcomer begins in the middle of the year. A niche reviewer only buys at one
 * shop, which is verified or not.
 */
export type Role = { what: 'newcomer' } | { what: 'niche'; products: Product[]; isVerified: boolean }

export type World = {
  roles: Map<Agent, Role>
  /** How many purchases an honest agent made until it got its first rank. Those without one are missing. */
  coldStarts: Map<Agent, number>
  market: Market
  style: RingStyle
  honest: Agent[]
  rings: Ring[]
  ringOf: Map<Agent, Ring>
  /** The true quality of a product, in millionths. */
  quality: Map<Product, number>
  /** Products that serve the same purpose. */
  categories: Product[][]
}

const PRODUCTS_OF_CATEGORY = 10
const PRODUCTS_OF_MERCHANT = 5
const COLLUDING = 0.1
/** The size of each ring, as a share of all colluding agents. */
const RING_SHARES = [0.02, 0.03, 0.05, 0.1, 0.2, 0.6]
const RING_PRODUCTS = 0.15
/** The part of the honest who are newcomers, and as many are niche reviewers. */
const ROLES = 0.04
const CASHBACKS = [0, 0, 1_000, 2_000, 3_000]

export function createWorld(
  random: Random,
  { agents, products }: Scale,
  style: RingStyle,
  trust: Trust,
): World {
  const counts = !trust.isIgnored
  const rules = { ...THE_RULES, standingCounts: counts, salesNeedCover: counts }
  const market = new Market(START, rules, trust.design)
  let owners = 0
  const newOwner = (): Owner => ++owners
  const mint = (owner: Owner) => market.mint(owner, { cashbackBps: random.pick(CASHBACKS) })

  const colluding = Math.round(agents * COLLUDING)
  const honest = Array.from({ length: agents - colluding }, () =>
    // One in twenty agents has the same owner as the one before.
    mint(owners > 0 && random.chance(0.05) ? owners : newOwner()),
  )
  const rings = RING_SHARES.map((share): Ring => {
    const size = Math.max(2, Math.round(colluding * share))
    return { members: Array.from({ length: size }, () => mint(newOwner())), products: [] }
  })

  const quality = new Map<Product, number>()
  const list = (owner: Owner, count: number, low: number, high: number): Product[] => {
    const merchant = market.open(owner)
    return Array.from({ length: count }, () => {
      const product = market.list(merchant, {
        type: PRODUCT_TYPES[random.chance(0.6) ? 0 : 1],
        // From 0.05 to 5 USDC; low prices are more frequent.
        price: BigInt(Math.round(50_000 * 100 ** random.share())),
        commissionBps: random.between(5, 20) * 100,
      })
      quality.set(product, Math.round((low + (high - low) * random.share()) * MILLION))
      return product
    })
  }
  const ringProducts = Math.max(rings.length, Math.round(products * RING_PRODUCTS))
  for (const [index, ring] of rings.entries()) {
    const count = Math.floor((ringProducts + index) / rings.length)
    // The shop belongs to a separate owner, so that the votes of members count there.
    ring.products.push(...list(newOwner(), count, 0.1, 0.4))
  }
  let shops = 0
  while (market.products.length < products) {
    const count = Math.min(PRODUCTS_OF_MERCHANT, products - market.products.length)
    const [product] = list(newOwner(), count, 0.1, 1)
    const isVerified = Math.floor((shops + 1) * trust.verified) > Math.floor(shops * trust.verified)
    if (product && isVerified) market.verify(product.merchant)
    shops++
  }

  const categories: Product[][] = Array.from({ length: Math.ceil(products / PRODUCTS_OF_CATEGORY) }, () => [])
  const hidden = new Set(style === 'quiet' ? rings.flatMap((ring) => ring.products) : [])
  for (const product of market.products) {
    if (!hidden.has(product)) categories[product.id % categories.length]?.push(product)
  }
  const ringOf = new Map(rings.flatMap((ring) => ring.members.map((member) => [member, ring] as const)))
  const roles = rolesOf(market, honest, new Set(rings.flatMap((ring) => ring.products)))
  return { roles, coldStarts: new Map(), market, style, honest, rings, ringOf, quality, categories }
}

/** The last honest agents have a role. */
function rolesOf(market: Market, honest: readonly Agent[], ofRings: ReadonlySet<Product>): Map<Agent, Role> {
  const shops = Map.groupBy(
    market.products.filter((product) => !ofRings.has(product)),
    ({ merchant }) => merchant,
  )
  const niches = [true, false].map((isVerified) =>
    [...shops]
      .filter(([merchant]) => market.standings.isVerified(merchant) === isVerified)
      .map(([, of]) => of),
  )
  const count = Math.ceil(honest.length * ROLES)
  const roles = honest.slice(-2 * count).map((agent, at): [Agent, Role] => {
    const isVerified = at % 4 < 2
    const products =
      niches[isVerified ? 0 : 1]?.[Math.floor(at / 4) % (niches[isVerified ? 0 : 1]?.length || 1)]
    return at % 2 === 0 || !products
      ? [agent, { what: 'newcomer' }]
      : [agent, { what: 'niche', products, isVerified }]
  })
  return new Map(roles)
}
