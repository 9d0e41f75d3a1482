import { dayOf, MILLION, productRank } from '@referrer/ranking'
import type { Product, Review } from './records.ts'
import type { Rules } from './rules.ts'

type Standing = {
  reviews: Map<number, Review[]>
  opinions: Map<number, Review>
  weight: bigint
  weighted: bigint
}

/** Keeps one opinion for each owner and product, and computes Product Ranks from them. */
export class Opinions {
  readonly #rules: Rules
  readonly #products = new Map<Product, Standing>()
  readonly #changed = new Map<Product, Set<number>>()
  #weight = 0n
  #weighted = 0n
  #day = -1
  #mean = MILLION / 2

  constructor(rules: Rules) {
    this.#rules = rules
  }

  published(review: Review): void {
    if (review.opinion === null) return
    const { reviews } = this.#of(review.product)
    const who = this.#who(review)
    reviews.set(who, [...(reviews.get(who) ?? []), review])
    this.changed(review)
  }

  changed(review: Review): void {
    if (review.opinion === null) return
    const whose = this.#changed.get(review.product) ?? new Set()
    this.#changed.set(review.product, whose.add(this.#who(review)))
  }

  follow(now: number): void {
    const day = dayOf(new Date(now))
    if (day > this.#day) {
      this.#day = day
      this.#mean = productRank(MILLION / 2, { weight: this.#weight, weighted: this.#weighted })
    }
    for (const [product, whose] of this.#changed) for (const who of whose) this.#look(product, who)
    this.#changed.clear()
  }

  of(product: Product): ReadonlyMap<number, Review> {
    return this.#of(product).opinions
  }

  /** In millionths, as of the last day that was followed. */
  rankOf(product: Product): number {
    return productRank(this.#mean, this.#of(product))
  }

  #look(product: Product, who: number): void {
    const standing = this.#of(product)
    const newest = standing.reviews
      .get(who)
      ?.filter(({ agent }) => !(this.#rules.flagsCount && agent.flagged))
      .at(-1)
    this.#add(standing, standing.opinions.get(who), -1n)
    this.#add(standing, newest, 1n)
    if (newest) standing.opinions.set(who, newest)
    else standing.opinions.delete(who)
  }

  #add(standing: Standing, review: Review | undefined, sign: bigint): void {
    const weight = sign * BigInt(review?.opinion?.weight ?? 0)
    const weighted = weight * BigInt(review?.satisfaction ?? 0)
    standing.weight += weight
    standing.weighted += weighted
    this.#weight += weight
    this.#weighted += weighted
  }

  #who({ agent, owner }: Review): number {
    return this.#rules.ownersCount ? owner : agent.id
  }

  #of(product: Product): Standing {
    const standing = this.#products.get(product) ?? {
      reviews: new Map(),
      opinions: new Map(),
      weight: 0n,
      weighted: 0n,
    }
    this.#products.set(product, standing)
    return standing
  }
}
