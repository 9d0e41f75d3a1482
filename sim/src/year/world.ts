import { MILLION, PRODUCT_TYPES } from '@referrer/ranking'
import { Market } from '../market.ts'
import type { Random } from '../random.ts'
import type { Agent, Owner, Product } from '../records.ts'
import { THE_RULES } from '../rules.ts'

export const START = Date.UTC(2026, 0, 1)

export type Scale = { agents: number; products: number; purchases: number }
export const FULL_SCALE: Scale = { agents: 1_000, products: 200, purchases: 50_000 }

export const scaled = (share: number): Scale => ({
  agents: Math.round(FULL_SCALE.agents * share),
  products: Math.round(FULL_SCALE.products * share),
  purchases: Math.round(FULL_SCALE.purchases * share),
})

/** Agents of different owners who act as one, and the products that they want to sell. */
export type Ring = { members: Agent[]; products: Product[] }

/**
 * A loud ring sells bad products to whoever believes its praise, and slanders those of others. A quiet one sells to itself only, tells the
 * truth of all else, and lifts itself by votes and confirmations at its own shop.
 */
export type RingStyle = 'loud' | 'quiet'

export type World = {
  market: Market
  style: RingStyle
  honest: Agent[]
  rings: Ring[]
  ringOf: Map<Agent, Ring>
  /** What a product is really worth to a buyer, in millionths. */
  quality: Map<Product, number>
  /** Products that do the same thing. */
  categories: Product[][]
}

const PRODUCTS_OF_CATEGORY = 10
const PRODUCTS_OF_MERCHANT = 5
const COLLUDING = 0.1
/** Of all who collude. */
const RING_SHARES = [0.02, 0.03, 0.05, 0.1, 0.2, 0.6]
const RING_PRODUCTS = 0.15
const CASHBACKS = [0, 0, 1_000, 2_000, 3_000]

export function createWorld(random: Random, { agents, products }: Scale, style: RingStyle): World {
  const market = new Market(START, THE_RULES)
  let owners = 0
  const newOwner = (): Owner => ++owners
  const mint = (owner: Owner) => market.mint(owner, { cashbackBps: random.pick(CASHBACKS) })

  const colluding = Math.round(agents * COLLUDING)
  const honest = Array.from({ length: agents - colluding }, () =>
    // Every twentieth has the same owner as the one before.
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
        // From 0.05 to 5 USDC, the small ones more often.
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
    // A wallet apart, so that members may vote there.
    ring.products.push(...list(newOwner(), count, 0.1, 0.4))
  }
  while (market.products.length < products) {
    const count = Math.min(PRODUCTS_OF_MERCHANT, products - market.products.length)
    list(newOwner(), count, 0.1, 1)
  }

  const categories: Product[][] = Array.from({ length: Math.ceil(products / PRODUCTS_OF_CATEGORY) }, () => [])
  const hidden = new Set(style === 'quiet' ? rings.flatMap((ring) => ring.products) : [])
  for (const product of market.products) {
    if (!hidden.has(product)) categories[product.id % categories.length]?.push(product)
  }
  const ringOf = new Map(rings.flatMap((ring) => ring.members.map((member) => [member, ring] as const)))
  return { market, style, honest, rings, ringOf, quality, categories }
}
