import { MILLION } from '@referrer/ranking'
import type { Opinions } from './opinions.ts'
import type { Finding, Product, Review } from './records.ts'
import type { Rules } from './rules.ts'

type Sums = { size: number; weight: bigint; weighted: bigint }
type Input = Sums & { review: Review }
type Comparison = Sums & { inputs: Map<number, Input> }

const LEAST_OPINIONS = 3
const TOLERANCE = BigInt(MILLION / 4)

/**
 * Compares reviews with the opinions of buyers: once a product has 3 opinions, and each time their number has
 * doubled.
 */
export class Oracle {
  readonly #rules: Rules
  readonly #opinions: Opinions
  readonly #live = new Map<Product, Comparison>()
  readonly #changed = new Set<Review>()
  #findings = 0

  constructor(rules: Rules, opinions: Opinions) {
    this.#rules = rules
    this.#opinions = opinions
  }

  get findings(): number {
    return this.#findings
  }

  changed(review: Review): void {
    this.#changed.add(review)
  }

  /** Returns the reviews whose finding has changed. */
  follow(now: number): Review[] {
    const looked = [...this.#changed]
    this.#changed.clear()
    const compared = [...new Set(looked.map(({ product }) => product))].filter((product) =>
      this.#compare(product),
    )
    // In the order in which the service numbers its findings.
    return [compared.flatMap(({ reviews }) => reviews), looked].flatMap((reviews) =>
      reviews.toSorted((a, b) => a.id - b.id).filter((review) => this.#find(review, now)),
    )
  }

  /** False: the comparison of the product has not changed. */
  #compare(product: Product): boolean {
    const live = this.#live.get(product)
    const isVoid = live !== undefined && [...live.inputs.values()].some(({ review }) => this.#isOut(review))
    const opinions = this.#opinions.of(product)
    if (opinions.size >= (live && !isVoid ? 2 * live.inputs.size : LEAST_OPINIONS)) {
      this.#live.set(product, this.#comparisonOf(opinions))
      return true
    }
    if (isVoid) this.#live.delete(product)
    return isVoid
  }

  #isOut(review: Review): boolean {
    return this.#rules.flagsCount && review.agent.flagged
  }

  #find(review: Review, now: number): boolean {
    if (review.outcome === 'disputed' || review.outcome === 'resolved') return false
    const { outcome, size } = this.#judge(review)
    if ((review.finding?.outcome ?? 'pending') === outcome) return false
    review.finding = { id: ++this.#findings, outcome, size, foundAt: now }
    review.outcome = outcome
    return true
  }

  #judge({ agent, owner, product, satisfaction }: Review): Pick<Finding, 'outcome' | 'size'> {
    const live = this.#live.get(product)
    const own = live?.inputs.get(this.#rules.ownersCount ? owner : agent.id)
    const others = (live?.inputs.size ?? 0) - (own ? 1 : 0)
    if (!live || others < LEAST_OPINIONS) return { outcome: 'pending', size: 0 }
    const weight = live.weight - (own?.weight ?? 0n)
    const off = BigInt(satisfaction) * weight - (live.weighted - (own?.weighted ?? 0n))
    const isOwnShop = this.#rules.ownShopsDrop && product.merchant.owner === owner
    return {
      outcome: (off < 0n ? -off : off) <= TOLERANCE * weight ? 'confirmed' : 'contradicted',
      size: isOwnShop ? 0 : Math.floor((live.size - (own?.size ?? 0)) / others),
    }
  }

  #comparisonOf(opinions: ReadonlyMap<number, Review>): Comparison {
    const comparison: Comparison = { inputs: new Map(), size: 0, weight: 0n, weighted: 0n }
    for (const [who, review] of opinions) {
      const size = review.opinion?.size ?? 0
      const weight = BigInt(this.#rules.opinionsWeigh ? Math.max(size, 1) : 1)
      const weighted = weight * BigInt(review.satisfaction)
      comparison.inputs.set(who, { review, size, weight, weighted })
      comparison.size += size
      comparison.weight += weight
      comparison.weighted += weighted
    }
    return comparison
  }
}
