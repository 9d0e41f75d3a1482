import { type Cover, dayOf, deflate, inflate, spendingOf, supportOf } from '@referrer/ranking'
import type { Agent, Merchant, Owner, Purchase, Review } from './records.ts'
import type { Rules } from './rules.ts'
import type { Standings } from './standings.ts'

/** A part of a purchase's money, with which the buyer supports the author of a review. */
type Support = { author: Review; purchase: Purchase; parts: bigint }
type Money = { sales: bigint; shops: Map<Merchant, { paid: bigint; spent: bigint }> }

/** Keeps the sales of authors and the money that speaks for them, by the owner they had. */
export class AuthorsMoney {
  readonly #rules: Rules
  readonly #of = new Map<Agent, Map<Owner, Money>>()
  readonly #supports = new Map<Agent, Support[]>()

  constructor(rules: Rules) {
    this.#rules = rules
  }

  /** A sale counts with the commission that it would pay at rank 1, for the owner who earns it: the present one. */
  sold({ link, price, product, boughtAt }: Purchase): void {
    const commission = (price * BigInt(product.commissionBps)) / 10_000n
    this.#moneyOf({ agent: link.agent, owner: link.agent.owner }).sales += inflate(
      commission,
      dayOf(new Date(boughtAt)),
    )
  }

  /** The buyer supports the author with one of so many parts of what it paid. */
  supported(buyer: Agent, support: Support): void {
    if (buyer.flagged && this.#rules.flagsCount) return
    this.#supports.set(buyer, [...(this.#supports.get(buyer) ?? []), support])
    this.#add(support, 1n)
  }

  /** The buyer was flagged. Returns the authors who lose its support. */
  withdrawn(buyer: Agent): Agent[] {
    const supports = this.#supports.get(buyer) ?? []
    for (const support of supports) this.#add(support, -1n)
    this.#supports.delete(buyer)
    return supports.map(({ author }) => author.agent)
  }

  coverOf(agent: Agent, day: number, standings: Standings): Cover {
    let [sales, paid, spentByStanding] = [0n, 0n, 0n]
    for (const [owner, money] of this.#of.get(agent) ?? []) {
      if (this.#rules.evidenceStays && owner !== agent.owner) continue
      sales += money.sales
      for (const [shop, sums] of money.shops) {
        if (standings.isVerified(shop)) paid += sums.paid
        else spentByStanding += sums.spent * BigInt(standings.ofShop(shop))
      }
    }
    return { support: deflate(supportOf(paid, spentByStanding), day), sales: deflate(sales, day) }
  }

  #add({ author, purchase, parts }: Support, sign: 1n | -1n): void {
    const { product, split, boughtAt } = purchase
    const { shops } = this.#moneyOf(author)
    const sums = shops.get(product.merchant) ?? { paid: 0n, spent: 0n }
    shops.set(product.merchant, sums)
    const day = dayOf(new Date(boughtAt))
    sums.paid += sign * inflate(split.merchant / parts, day)
    sums.spent += sign * inflate(spendingOf(split.merchant, this.#rules.full) / parts, day)
  }

  #moneyOf({ agent, owner }: Pick<Review, 'agent' | 'owner'>): Money {
    const ofAgent = this.#of.get(agent) ?? new Map<Owner, Money>()
    this.#of.set(agent, ofAgent)
    const money = ofAgent.get(owner) ?? { sales: 0n, shops: new Map() }
    ofAgent.set(owner, money)
    return money
  }
}
