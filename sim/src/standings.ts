import {
  dayOf,
  inflate,
  inflationOf,
  type Spending,
  type Standing,
  spendingOf,
  standingOf,
  type Trust,
} from '@referrer/ranking'
import type { Merchant, Owner, Product, Purchase } from './records.ts'
import type { Rules } from './rules.ts'

/** Computes the standings of owners and shops from a day's spending. */
export type Design = (spending: Spending) => Standing

/** Keeps what owners spent at shops, and the standings of the day. */
export class Standings {
  readonly #rules: Rules
  readonly #design: Design
  readonly #spent = new Map<Owner, Map<Merchant, bigint>>()
  readonly #verified = new Set<Merchant>()
  #new: Purchase[] = []
  #day = -1
  #pass = 0
  #isStale = false
  /** Null: no shop is verified. */
  #now: { owners: Map<Owner, number>; shops: Map<Merchant, number> } | null = null

  constructor(rules: Rules, design: Design = standingOf) {
    this.#rules = rules
    this.#design = design
  }

  bought(purchase: Purchase): void {
    if (purchase.payer !== purchase.product.merchant.owner) this.#new.push(purchase)
  }

  verify(merchant: Merchant): void {
    this.#verified.add(merchant)
    this.#isStale = true
  }

  isVerified(merchant: Merchant): boolean {
    return this.#verified.has(merchant)
  }

  /** How often standings were computed. */
  get pass(): number {
    return this.#pass
  }

  get all(): { owners: ReadonlyMap<Owner, number>; shops: ReadonlyMap<Merchant, number> } {
    return this.#now ?? { owners: new Map(), shops: new Map() }
  }

  /** What the owners spent at each shop, inflated. */
  get spent(): ReadonlyMap<Owner, ReadonlyMap<Merchant, bigint>> {
    this.#takeNew()
    return this.#spent
  }

  get isOn(): boolean {
    return this.#now !== null
  }

  /** Null: the owner had bought nothing before, or no shop is verified. */
  ofOwner(owner: Owner): number | null {
    return this.#now?.owners.get(owner) ?? null
  }

  ofShop(merchant: Merchant): number {
    return this.#now?.shops.get(merchant) ?? 0
  }

  trustIn(owner: Owner, { merchant }: Product): Trust | null {
    return this.#now && { owner: this.ofOwner(owner), shop: this.ofShop(merchant) }
  }

  /** Computes the standings of a day, and again when a shop has been verified. They rest on all purchases so far. */
  follow(now: number): void {
    const day = dayOf(new Date(now))
    if (day <= this.#day && !this.#isStale) return
    this.#day = day
    this.#isStale = false
    this.#pass++
    this.#takeNew()
    if (this.#verified.size > 0) this.#compute(day)
  }

  #takeNew(): void {
    for (const { payer, product, split, boughtAt } of this.#new) {
      const shops = this.#spent.get(payer) ?? new Map<Merchant, bigint>()
      this.#spent.set(payer, shops)
      const spent = inflate(spendingOf(split.merchant, this.#rules.full), dayOf(new Date(boughtAt)))
      shops.set(product.merchant, (shops.get(product.merchant) ?? 0n) + spent)
    }
    this.#new = []
  }

  #compute(day: number): void {
    const owners = [...this.#spent.keys()]
    const shops = [
      ...new Set([...this.#verified, ...[...this.#spent.values()].flatMap((of) => [...of.keys()])]),
    ]
    const numbers = new Map(shops.map((shop, at) => [shop, at]))
    const entries = owners.map((owner) => [...(this.#spent.get(owner) ?? [])])
    const first = Int32Array.from([0, ...entries.map((of) => of.length)])
    for (let at = 1; at < first.length; at++) first[at] = (first[at] as number) + (first[at - 1] as number)
    const all = entries.flat()
    const inflation = inflationOf(day)
    const standing = this.#design({
      first,
      shop: Int32Array.from(all, ([shop]) => numbers.get(shop) ?? 0),
      spent: Float64Array.from(all, ([, spent]) => Number(spent / inflation)),
      isVerified: Uint8Array.from(shops, (shop) => (this.#verified.has(shop) ? 1 : 0)),
    })
    this.#now = {
      owners: new Map(owners.map((owner, at) => [owner, standing.owners[at] ?? 0])),
      shops: new Map(shops.map((shop, at) => [shop, standing.shops[at] ?? 0])),
    }
  }
}
