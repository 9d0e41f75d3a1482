// The whole market in memory: the operations of the service, and what it computes from them.
import { Money } from '@referrer/protocol'
import {
  BASE_RATES,
  effectiveRank,
  MILLION,
  multiplierBps,
  opinionWeight,
  type ProductType,
  trustedSize,
  voteWeight,
} from '@referrer/ranking'
import { Balances } from './balances.ts'
import { Escrows, votesMissing } from './escrows.ts'
import { Opinions } from './opinions.ts'
import { Oracle } from './oracle.ts'
import { Ranks } from './ranks.ts'
import type { Agent, Event, Merchant, Owner, Product, Purchase, Review, Vote } from './records.ts'
import { type Rules, sizeBy, THE_RULES } from './rules.ts'
import { type Design, Standings } from './standings.ts'

export const TERMS = { feeBps: 1_000, heldBackBps: 5_000 }
const VOTES_AT_ONCE = 3
/** A buyer agrees with a review if their ratings differ by no more than this. */
const TOLERANCE = MILLION / 4

export class Market {
  readonly rules: Rules
  readonly balances = new Balances()
  readonly agents: Agent[] = []
  readonly products: Product[] = []
  readonly reviews: Review[] = []
  readonly purchases: Purchase[] = []
  readonly events: Event[] = []
  readonly opinions: Opinions
  readonly oracle: Oracle
  readonly standings: Standings
  readonly #ranks: Ranks
  readonly #escrows: Escrows
  /** Milliseconds since 1970-01-01. */
  now: number
  readonly #voted = new Set<Purchase>()
  #identities = 0

  constructor(now: number, rules: Rules = THE_RULES, design?: Design) {
    this.now = now
    this.rules = rules
    this.opinions = new Opinions(rules)
    this.oracle = new Oracle(rules, this.opinions)
    this.standings = new Standings(rules, design)
    this.#ranks = new Ranks(rules, this.standings)
    this.#escrows = new Escrows(this.balances)
  }

  mint(owner: Owner, { cashbackBps = 0 } = {}): Agent {
    const id = this.#identities++
    const agent: Agent = { id, owner, flagged: false, cashbackBps, ranks: { repeat: null, one_off: null } }
    this.agents.push(agent)
    this.events.push({ at: this.now, what: 'minted', agent, owner })
    return agent
  }

  open(owner: Owner): Merchant {
    const merchant = { id: this.#identities++, owner }
    this.events.push({ at: this.now, what: 'opened', merchant })
    return merchant
  }

  /** The operator states that the shop is a real one, with customers and owners of its own. */
  verify(merchant: Merchant): void {
    this.standings.verify(merchant)
    this.events.push({ at: this.now, what: 'verified', merchant })
  }

  list(merchant: Merchant, terms: { type: ProductType; price: bigint; commissionBps: number }): Product {
    const product: Product = { id: this.products.length, merchant, ...terms, reviews: [] }
    this.products.push(product)
    this.events.push({ at: this.now, what: 'listed', product })
    return product
  }

  /** A review with an approved proof. */
  publish(agent: Agent, product: Product, satisfaction: number): Review {
    return this.#publish(agent, product, satisfaction, null)
  }

  /**
   * Buys through the link of a review. With an owner instead of an agent, a plain wallet buys. A merchant may accept
   * less than the price.
   */
  buy(link: Review, by: Agent | Owner, price = link.product.price): Purchase {
    const { product } = link
    const buyer = typeof by === 'number' ? null : by
    const payer = typeof by === 'number' ? by : by.owner
    const split = Money.split(price, {
      ...TERMS,
      commissionBps: product.commissionBps,
      multiplierBps: multiplierBps(rankInForce(link.agent, product.type)),
      cashbackOfCommissionBps: link.agent.cashbackBps,
    })
    const purchase: Purchase = {
      id: this.purchases.length + 1,
      link,
      buyer,
      payer,
      product,
      price,
      boughtAt: this.now,
      split,
      size: sizeBy(this.rules, price, split.commission),
      needsVote: product.reviews.some(
        ({ agent }) => agent.owner !== payer && agent.owner !== link.agent.owner,
      ),
      hasVoted: false,
      review: null,
      isReleased: false,
      settledAt: null,
      heldBackTo: null,
    }
    this.purchases.push(purchase)
    this.standings.bought(purchase)
    this.#ranks.sold(purchase)
    this.#escrows.opened(purchase)
    this.balances.paid(purchase, { merchant: product.merchant.owner, reviewer: link.agent.owner })
    this.events.push({ at: this.now, what: 'bought', purchase })
    return purchase
  }

  /** All votes of a purchase are cast together, once. */
  vote(purchase: Purchase, reviews: readonly Review[]): void {
    const { buyer: voter, product, link } = purchase
    if (
      !voter ||
      reviews.length === 0 ||
      reviews.length > VOTES_AT_ONCE ||
      new Set(reviews).size < reviews.length
    ) {
      throw new Error('an agent votes for one to three reviews')
    }
    if (reviews.some((review) => review.product !== product || review === link)) {
      throw new Error('one votes for reviews of what one bought, and not for the one that sold it')
    }
    if (this.#voted.has(purchase)) throw new Error('a purchase is voted on once')
    const ballot = this.#voted.add(purchase).size
    const authors = reviews.map(({ agent }) => agent.owner)
    const votes = reviews.map((review, at): Vote => {
      const isOwn = review.agent.owner === voter.owner
      const isFirst = authors.indexOf(review.agent.owner) === at
      const counts =
        !(isOwn && this.rules.ownVotesDrop) &&
        (isFirst || !this.rules.ballotsCountOnce) &&
        !(this.rules.flagsCount && voter.flagged) &&
        !this.#isShopOf(product, voter.owner, review.agent.owner)
      const weight = counts
        ? voteWeight(rankInForce(voter, product.type), this.#trustedSize(purchase, voter))
        : 0
      return {
        ballot,
        castAt: this.now,
        purchase,
        review,
        voter,
        voterOwner: voter.owner,
        qualifies: !isOwn,
        weight,
        supports: counts,
      }
    })
    purchase.hasVoted ||= votes.some(({ qualifies }) => qualifies)
    for (const vote of votes) this.#ranks.voted(vote, votes.length)
    this.#escrows.changed(purchase)
    this.events.push({ at: this.now, what: 'voted', purchase, votes })
  }

  reviewPurchase(purchase: Purchase, satisfaction: number): Review {
    const { buyer, product } = purchase
    if (!buyer || purchase.review) throw new Error('an agent reviews what it bought, once')
    if (votesMissing(purchase)) throw new Error('vote for a review of the product first')
    const review = this.#publish(buyer, product, satisfaction, purchase)
    purchase.review = review
    if (review.agrees) this.#ranks.agreed(purchase)
    this.#escrows.changed(purchase)
    return review
  }

  dispute(review: Review): void {
    if (review.outcome !== 'contradicted') throw new Error('only a contradiction can be disputed')
    review.outcome = 'disputed'
    this.events.push({ at: this.now, what: 'disputed', review })
  }

  resolve(review: Review, upheld: boolean): void {
    if (review.outcome !== 'disputed') throw new Error('only a dispute can be resolved')
    review.outcome = 'resolved'
    review.upheld = upheld
    this.#ranks.found(review)
    this.events.push({ at: this.now, what: 'resolved', review, upheld })
  }

  transfer(agent: Agent, owner: Owner): void {
    agent.owner = owner
    this.#ranks.changed(agent)
    this.events.push({ at: this.now, what: 'transferred', agent, owner })
  }

  flag(agent: Agent): void {
    agent.flagged = true
    this.#ranks.changed(agent)
    for (const review of this.reviews) {
      if (review.agent !== agent) continue
      this.opinions.changed(review)
      this.oracle.changed(review)
    }
    this.events.push({ at: this.now, what: 'flagged', agent })
  }

  /** Computes everything that depends on the events so far, as the service's followers do continuously. */
  follow(): void {
    this.standings.follow(this.now)
    this.opinions.follow(this.now)
    for (const review of this.oracle.follow(this.now)) this.#ranks.found(review)
    this.#ranks.follow(this.now)
    this.#escrows.follow(this.now)
  }

  #publish(agent: Agent, product: Product, satisfaction: number, purchase: Purchase | null): Review {
    const isOpinion = purchase !== null && !this.#isShopOf(product, agent.owner)
    const size = purchase ? this.#trustedSize(purchase, agent) : 0
    const review: Review = {
      id: this.reviews.length + 1,
      agent,
      owner: agent.owner,
      product,
      satisfaction,
      publishedAt: this.now,
      purchase,
      opinion: isOpinion ? { size, weight: opinionWeight(rankInForce(agent, product.type), size) } : null,
      agrees: purchase !== null && this.#agrees(purchase, satisfaction),
      outcome: 'pending',
      finding: null,
      upheld: null,
    }
    this.reviews.push(review)
    product.reviews.push(review)
    this.opinions.published(review)
    this.oracle.changed(review)
    this.events.push({ at: this.now, what: 'published', review })
    return review
  }

  #trustedSize({ size, product }: Purchase, { owner }: Agent): number {
    return trustedSize(size, this.rules.standingCounts ? this.standings.trustIn(owner, product) : null)
  }

  #agrees({ link, product, payer }: Purchase, satisfaction: number): boolean {
    const isNear = Math.abs(satisfaction - link.satisfaction) <= TOLERANCE
    return isNear && payer !== link.owner && !this.#isShopOf(product, payer, link.owner)
  }

  #isShopOf({ merchant }: Product, ...owners: Owner[]): boolean {
    return this.rules.ownShopsDrop && owners.includes(merchant.owner)
  }
}

/** The rank that counts wherever one is needed: at a cold start, the base rate. */
export const rankInForce = ({ flagged, ranks }: Agent, type: ProductType): number =>
  effectiveRank(flagged, ranks[type]) ?? BASE_RATES[type]
