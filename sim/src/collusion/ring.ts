import { BASE_RATES, multiplierBps, type ProductType } from '@referrer/ranking'
import { DAY_MS } from '../escrows.ts'
import { Market } from '../market.ts'
import type { Agent, Merchant, Owner, Product, Purchase, Review } from '../records.ts'
import type { Rules } from '../rules.ts'
import type { Design } from '../standings.ts'

const START = Date.UTC(2026, 0, 1)
/** The part of the commission that links of agents at their cold start earn. */
const NEWCOMERS_MULTIPLIER_BPS = BigInt(multiplierBps(BASE_RATES.repeat))
const HONEST_COMMISSION_BPS = 1_000

export const BEST = 1_000_000
export const WORST = 0
export const TYPE: ProductType = 'repeat'

/** The price at which a sale through a newcomer's link pays this commission. */
export const priceOf = (commission: bigint, commissionBps = 10_000): bigint => {
  const share = BigInt(commissionBps) * NEWCOMERS_MULTIPLIER_BPS
  return (commission * 100_000_000n + share - 1n) / share
}

/** Colluding owners who want to raise the rank of one agent, the star. Counts their purchases and transactions. */
export class Ring {
  readonly market: Market
  readonly star: Agent
  /** Owns the ring's shop and writes the review whose link everybody buys through. */
  readonly keeper: Agent
  /** The number of on-chain transactions, whoever pays the gas. */
  transactions = 0
  purchases = 0
  readonly #owners = new Set<Owner>()
  readonly #size: number
  #helpers: Agent[] | undefined
  #nextOwner = 1

  constructor(size: number, rules: Rules, design?: Design) {
    this.#size = size
    this.market = new Market(START, rules, design)
    this.star = this.mint(this.newOwner())
    this.keeper = this.mint(this.newOwner())
  }

  /** One agent for each helping owner; created on first use, because some attacks need none. */
  get helpers(): readonly Agent[] {
    this.#helpers ??= Array.from({ length: this.#size }, () => this.mint(this.newOwner()))
    return this.#helpers
  }

  get owners(): ReadonlySet<Owner> {
    return this.#owners
  }

  get wallets(): number {
    return this.#owners.size
  }

  newOwner(): Owner {
    const owner = this.#nextOwner++
    this.#owners.add(owner)
    return owner
  }

  mint(owner: Owner): Agent {
    this.transactions++
    return this.market.mint(owner)
  }

  openShop(owner: Owner = this.keeper.owner): Merchant {
    this.transactions++
    return this.market.open(owner)
  }

  /** A product of the ring with these terms, and the review whose link everybody uses. */
  list(
    shop: Merchant,
    terms: { price?: bigint; commissionBps?: number } = {},
  ): { product: Product; link: Review } {
    const { commissionBps = 10_000, price = priceOf(this.market.rules.full, commissionBps) } = terms
    this.transactions += 2
    const product = this.market.list(shop, { type: TYPE, price, commissionBps })
    return { product, link: this.market.publish(this.keeper, product, BEST) }
  }

  /** A product of an honest merchant that pays a full commission. */
  findHonest(): { product: Product; link: Review } {
    const price = priceOf(this.market.rules.full, HONEST_COMMISSION_BPS)
    const shop = this.market.open(this.#stranger())
    const product = this.market.list(shop, { type: TYPE, price, commissionBps: HONEST_COMMISSION_BPS })
    this.transactions++
    return { product, link: this.market.publish(this.keeper, product, BEST) }
  }

  publish(agent: Agent, product: Product, satisfaction = BEST): Review {
    this.transactions++
    return this.market.publish(agent, product, satisfaction)
  }

  buy(agent: Agent, link: Review, price = link.product.price): Purchase {
    this.transactions++
    this.purchases++
    this.tick()
    return this.market.buy(link, agent, price)
  }

  /** Reviews a purchase, after the vote that the service requires. */
  review(purchase: Purchase, satisfaction: number, vote: Review | undefined): void {
    this.transactions++
    if (vote) this.market.vote(purchase, [vote])
    this.market.reviewPurchase(purchase, satisfaction)
  }

  /** An agent of an honest owner, whose actions cost the ring nothing. */
  honest(): Agent {
    return this.market.mint(this.#stranger())
  }

  tick(): void {
    this.market.now += 1
  }

  follow(): void {
    this.tick()
    this.market.follow()
  }

  /** Pays out all escrows. Returns the ring's loss, and the part of it that went to the platform as fees. */
  settle(): { left: bigint; fees: bigint } {
    const ofRing = this.market.purchases.filter(({ payer }) => this.#owners.has(payer))
    this.market.now += 61 * DAY_MS
    this.market.follow()
    this.market.balances.check(this.market.purchases)
    return {
      left: -this.market.balances.balanceOf(this.#owners),
      fees: ofRing.reduce((sum, { split }) => sum + split.fee, 0n),
    }
  }

  #stranger(): Owner {
    return 1_000_000 + this.#nextOwner++
  }
}
