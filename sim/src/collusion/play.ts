// Plays a strategy in a market: first the attack, then sales to strangers through the stars' links.
import { BASE_RATES, MILLION, multiplierBps } from '@referrer/ranking'
import { DAY_MS } from '../escrows.ts'
import { rankInForce, TERMS } from '../market.ts'
import type { Agent, Product, Purchase, Review } from '../records.ts'
import type { Rules } from '../rules.ts'
import type { Design } from '../standings.ts'
import { priceOf, Ring, TYPE } from './ring.ts'
import type { Strategy } from './strategy.ts'

const HONEST_BPS = 1_000
const FIRST_STRANGER = 10_000_000
const VERIFIED_SHOPS = 10
/** The customers that an honest shop has before the attack. */
const HONEST_CUSTOMERS = 5
/** The votes that an honest agent has before it is sold. */
const HONEST_VOTERS = 20
/** A star sells in steps: usual sales of this many full commissions, or a tenth of what it sold before. */
const USUAL_SALE = 10n
const GROWTH = 10n

export type Outcome = {
  /** In base units: what the attack cost, by the time that the volume was sold, and the extra commission it brought. */
  cost: bigint
  gain: bigint
  rank: number
}

/** The market that is attacked. */
export type Arena = {
  rules: Rules
  /** Whether ten honest shops are verified. If not, no shop is, and everything counts in full. */
  isVerified: boolean
  design?: Design
  /** Whether the ring's shops are verified, too. */
  isPartnerVerified?: boolean
  /** Whether each volume is sold at once. If not, in usual sales, and each at most a tenth of those before it. */
  isOneSale?: boolean
}

/** The outcomes after selling each volume: commission in base units, as it would be at rank 1, in rising order. */
export function play(strategy: Strategy, arena: Arena, volumes: readonly bigint[]): Outcome[] {
  const sell = (all: readonly bigint[]) => {
    const attack = new Attack(strategy, arena)
    attack.prepare()
    return attack.sell(all)
  }
  return arena.isOneSale ? volumes.flatMap((volume) => sell([volume])) : sell(volumes)
}

type Offer = { product: Product; links: Map<Agent, Review>; keepers: Review }

class Attack {
  readonly #strategy: Strategy
  readonly #arena: Arena
  readonly #ring: Ring
  readonly #stars: Agent[]
  readonly #verified: Offer[]
  readonly #unverified: Offer
  readonly #own: Offer[]
  #cost = 0n
  #seen = 0
  #turn = 0

  constructor(strategy: Strategy, arena: Arena) {
    const { rules, isVerified, design, isPartnerVerified } = arena
    this.#strategy = strategy
    this.#arena = arena
    const ring = new Ring(strategy.helpers, rules, design)
    this.#ring = ring
    this.#stars = Array.from({ length: strategy.stars }, () =>
      strategy.isBought ? this.#boughtAgent() : ring.mint(ring.newOwner()),
    )
    this.#verified = Array.from({ length: VERIFIED_SHOPS }, () => this.#honestShop(isVerified))
    this.#unverified = this.#honestShop(false)
    this.#own = Array.from({ length: strategy.inside > 0 ? strategy.shops : 0 }, () => {
      const shop = ring.openShop(ring.newOwner())
      if (isPartnerVerified) ring.market.verify(shop)
      const { commissionBps } = strategy
      // Without commission any price will do.
      const price = commissionBps > 0 ? priceOf(rules.full, commissionBps) : 10n * rules.full
      return this.#reviewed(ring.market.list(shop, { type: TYPE, price, commissionBps }))
    })
    this.#honestCustomers()
  }

  prepare(): void {
    const { helpers } = this.#ring
    const { outside, unverified, inside, isSudden, freshWallets, sleep, later } = this.#strategy
    this.#outside(Math.ceil(outside * (1 - later)))
    for (let count = 0; count < unverified; count++) {
      for (const helper of helpers) this.#support(helper, this.#unverified)
      this.#pass(1)
    }
    this.#pass(1 + sleep)
    for (let count = 0; count < inside; count++) {
      for (const helper of helpers) this.#support(helper, this.#pick(this.#own))
      if (!isSudden) this.#pass(1)
    }
    for (let count = 0; count < freshWallets * helpers.length; count++) {
      this.#support(this.#ring.mint(this.#ring.newOwner()), this.#pick(this.#verified))
    }
    this.#pass(1)
  }

  sell(volumes: readonly bigint[]): Outcome[] {
    const { market } = this.#ring
    const { outside, later, sellingDays } = this.#strategy
    const [usual, shared] = [USUAL_SALE * market.rules.full, BigInt(this.#stars.length)]
    let [sold, gain] = [0n, 0n]
    return volumes.map((volume, at) => {
      if (at > 0) {
        this.#outside(Math.floor(outside * later))
        if (sellingDays > 0) this.#pass(Math.round(sellingDays / volumes.length))
      }
      while (sold < volume) {
        const step = this.#arena.isOneSale ? volume : max(usual, sold / GROWTH)
        const sale = sold + step > volume ? volume - sold : step
        for (const star of this.#stars) gain += this.#sale(star, sale / shared)
        sold += sale
        market.follow()
      }
      this.#pay()
      return { cost: this.#cost, gain, rank: rankInForce(this.#star, TYPE) }
    })
  }

  get #star(): Agent {
    return this.#stars[0] as Agent
  }

  /** A stranger without an agent buys through the star's link. Returns what the star's rank adds to its commission. */
  #sale(star: Agent, volume: bigint): bigint {
    const { market } = this.#ring
    const link = this.#pick(this.#verified).links.get(star) as Review
    const more = multiplierBps(rankInForce(star, TYPE)) - multiplierBps(BASE_RATES[TYPE])
    market.now++
    market.buy(link, FIRST_STRANGER + market.purchases.length, (volume * 10_000n) / BigInt(HONEST_BPS))
    return (volume * BigInt(more) * BigInt(10_000 - TERMS.feeBps)) / 100_000_000n
  }

  #outside(times: number): void {
    for (let count = 0; count < times; count++) {
      for (const helper of this.#ring.helpers) this.#support(helper, this.#pick(this.#verified))
      this.#pass(1)
    }
  }

  /** Buys through the link of one star, votes for the others, or for it if there is no other, and agrees. */
  #support(helper: Agent, { product, links, keepers }: Offer): void {
    const isOwn = this.#own.some((offer) => offer.product === product)
    const { price } = this.#strategy
    const paid = isOwn ? product.price : (product.price * BigInt(Math.round(price * 1_000))) / 1_000n
    const star = this.#pick(this.#stars)
    const others = this.#stars.filter((other) => other !== star).slice(0, 3)
    // A vote cannot go to the review that sold: every second purchase is through another link, with a vote for the star.
    const isVote = others.length === 0 && this.#turn % 2 === 0
    const link = isVote ? keepers : (links.get(star) as Review)
    const purchase = this.#ring.buy(helper, link, paid)
    const votes = isVote
      ? [links.get(star) as Review]
      : others.length > 0
        ? others.map((other) => links.get(other) as Review)
        : [keepers]
    this.#ring.market.vote(purchase, votes)
    this.#ring.market.reviewPurchase(purchase, MILLION)
  }

  /** Adds what has been paid since the last time: the fee and, outside the ring, all that the shop got. */
  #pay(): void {
    const { purchases } = this.#ring.market
    const own = new Set(this.#own.map(({ product }) => product))
    const isPaid = ({ payer }: Purchase) => this.#ring.owners.has(payer)
    for (const purchase of purchases.slice(this.#seen).filter(isPaid)) {
      this.#cost += purchase.split.fee + (own.has(purchase.product) ? 0n : purchase.split.merchant)
    }
    this.#seen = purchases.length
  }

  /** An agent that has earned a rank under an honest owner, who sells it for nothing. */
  #boughtAgent(): Agent {
    const { market } = this.#ring
    const agent = this.#ring.honest()
    const { product, link } = this.#ring.findHonest()
    if (this.#arena.isVerified) market.verify(product.merchant)
    market.follow()
    const own = market.publish(agent, product, MILLION)
    for (let count = 0; count < HONEST_VOTERS; count++) {
      market.now++
      market.vote(market.buy(link, this.#ring.honest()), [own])
    }
    market.follow()
    market.transfer(agent, this.#ring.newOwner())
    return agent
  }

  #honestShop(isVerified: boolean): Offer {
    const { product } = this.#ring.findHonest()
    if (isVerified) this.#ring.market.verify(product.merchant)
    return this.#reviewed(product)
  }

  #reviewed(product: Product): Offer {
    const { market, keeper } = this.#ring
    const links = new Map(this.#stars.map((star) => [star, market.publish(star, product, MILLION)]))
    return { product, links, keepers: market.publish(keeper, product, MILLION) }
  }

  /** Honest people buy at all honest shops, so that the one which is not verified has a standing. */
  #honestCustomers(): void {
    const { market } = this.#ring
    const shops = [...this.#verified, this.#unverified]
    for (let count = 0; count < HONEST_CUSTOMERS; count++) {
      const customer = this.#ring.honest()
      for (const { keepers } of shops) market.buy(keepers, customer)
    }
    this.#pass(1)
  }

  #pass(days: number): void {
    this.#ring.market.now += days * DAY_MS
    this.#ring.market.follow()
  }

  #pick<T>(all: readonly T[]): T {
    return all[this.#turn++ % all.length] as T
  }
}

const max = (a: bigint, b: bigint) => (a > b ? a : b)
