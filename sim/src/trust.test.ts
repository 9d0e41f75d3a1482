// What the rules of standing promise, in the market of the simulation.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { play } from './collusion/play.ts'
import { SMEAR_OF_RING } from './collusion/print.ts'
import { profitOf, searchFor } from './collusion/search.ts'
import { smearOf } from './collusion/smear.ts'
import { anyStrategy, knownStrategies } from './collusion/strategy.ts'
import { DAY_MS } from './escrows.ts'
import { Market } from './market.ts'
import { Random } from './random.ts'
import type { Agent, Product, Review } from './records.ts'
import { THE_RULES } from './rules.ts'

const START = Date.UTC(2026, 0, 1)
const VOLUMES = [1n, 100n, 10_000n].map((usdc) => usdc * 1_000_000n)
const WITH = { rules: THE_RULES, isVerified: true }
const WITHOUT = { rules: THE_RULES, isVerified: false }

describe('an attack that is searched for', () => {
  const tries = { random: 20, neighbours: 5 }

  test('costs more than it brings, however many owners and stars it is split over', () => {
    for (const k of [1, 3, 20]) {
      for (const best of searchFor(k, { arena: WITH, volumes: VOLUMES, tries, seed: 7 })) {
        expect(best && profitOf(best)).toBeLessThan(0n)
      }
    }
  })

  test('pays where no shop is verified', () => {
    const found = searchFor(3, { arena: WITHOUT, volumes: VOLUMES, tries, seed: 7 })
    expect(found.map((best) => best && profitOf(best) > 0n)).toEqual([true, true, true])
  })

  test('brings at most half of what left the ring, whatever the strategy', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.constantFrom(1, 2, 5, 12), (seed, k) => {
        for (const { gain, cost } of play(anyStrategy(new Random(seed), k), WITH, VOLUMES)) {
          expect(2n * gain).toBeLessThanOrEqual(cost + 2n)
        }
      }),
      { numRuns: 40 },
    )
  })

  test('brings nothing inside a region that nobody outside pays or votes for', () => {
    const inside = knownStrategies(20).filter(
      ({ inside, outside, unverified }) => inside > 0 && outside + unverified === 0,
    )
    expect(inside).not.toEqual([])
    for (const strategy of inside) {
      expect(play(strategy, WITH, VOLUMES).map(({ gain }) => gain)).toEqual([0n, 0n, 0n])
      expect(play(strategy, WITHOUT, VOLUMES).every(({ gain }) => gain > 0n)).toBe(true)
    }
  })
})

describe('votes of honest owners', () => {
  /** A market with two verified shops and one other, in which agents buy, vote and review at random. */
  function busyMarket(random: Random) {
    const market = new Market(START)
    const agents = Array.from({ length: 6 }, (_, owner) => market.mint(owner + 1))
    const products = Array.from({ length: 3 }, (_, at) => {
      const merchant = market.open(100 + at)
      if (at < 2) market.verify(merchant)
      return market.list(merchant, { type: 'repeat', price: 200_000n, commissionBps: 1_000 })
    })
    for (const product of products)
      for (const agent of agents) market.publish(agent, product, random.below(5) * 250_000)
    for (let count = 0; count < 40; count++) {
      market.now += random.below(3) * (DAY_MS / 4)
      act(market, random, random.pick(agents), random.pick(products))
      market.follow()
    }
    return { market, agents, products }
  }

  function act(market: Market, random: Random, buyer: Agent, product: Product): void {
    const others = product.reviews.filter(({ agent }) => agent.owner !== buyer.owner)
    const link = random.pick(others)
    const purchase = market.buy(link, buyer)
    const voted = random.some(
      others.filter((review) => review !== link),
      2,
    )
    if (voted.length > 0) market.vote(purchase, voted)
    if (random.chance(0.5)) market.reviewPurchase(purchase, random.below(5) * 250_000)
  }

  test('never lower a rank', () => {
    let raised = 0
    fc.assert(
      fc.property(fc.nat(1_000_000), (seed) => {
        const random = new Random(seed)
        const { market, agents, products } = busyMarket(random)
        const author = random.pick(agents)
        const product = products[random.below(2)] as Product
        const own = product.reviews.find(({ agent }) => agent === author) as Review
        const link = product.reviews.find(({ agent }) => agent !== author) as Review
        const before = author.ranks.repeat
        const purchase = market.buy(link, market.mint(1_000))
        market.vote(purchase, [own])
        market.follow()
        const after = author.ranks.repeat
        if (before !== null) expect(after).toBeGreaterThanOrEqual(before)
        if ((after ?? 0) > (before ?? 0)) raised++
      }),
      { numRuns: 60 },
    )
    expect(raised).toBeGreaterThan(10)
  })
})

test('false opinions of wallets that only bought at their own shop bring nobody down where shops are verified', () => {
  const { before, after } = smearOf(5, 5, THE_RULES, SMEAR_OF_RING)
  expect(after).toBe(before)
  expect(smearOf(5, 5).after).toBeLessThan(before - 0.3)
})
