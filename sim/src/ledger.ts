import type { Owner, Purchase } from './records.ts'

/** Who money is with. `held`: in the escrow. */
export type Party = 'buyers' | 'merchants' | 'reviewers' | 'cashback' | 'fees' | 'treasury' | 'held'

/** Money that moved because of one purchase. */
type Entry = { purchase: number; from: Party; to: Party; amount: bigint }

/** Every unit that buyers paid is somewhere. */
export class Ledger {
  readonly #entries: Entry[] = []
  readonly #owners = new Map<Owner, { paid: bigint; got: bigint }>()

  paid(
    { id, payer, split: { merchant, immediate, fee, heldBack, cashback } }: Purchase,
    to: { merchant: Owner; reviewer: Owner },
  ) {
    this.#move(id, 'buyers', 'merchants', merchant, to.merchant)
    this.#move(id, 'buyers', 'reviewers', immediate, to.reviewer)
    this.#move(id, 'buyers', 'fees', fee)
    this.#move(id, 'buyers', 'held', heldBack + cashback)
    this.#of(payer).paid += merchant + immediate + fee + heldBack + cashback
  }

  /** Out of the escrow. */
  paidOut({ id }: Purchase, to: 'reviewers' | 'cashback' | 'treasury', amount: bigint, owner?: Owner) {
    this.#move(id, 'held', to, amount, owner)
  }

  /** What owners got back, less what they paid. */
  balanceOf(owners: Iterable<Owner>): bigint {
    let sum = 0n
    for (const owner of owners) sum += this.#of(owner).got - this.#of(owner).paid
    return sum
  }

  /** What each party has in the end, `buyers` less than nothing. Throws unless all of it is there, for each purchase and in sum. */
  close(purchases: readonly Purchase[]): Record<Party, bigint> {
    const ofPurchase = new Map<number, Record<Party, bigint>>()
    const all = nothing()
    for (const { purchase, from, to, amount } of this.#entries) {
      const own = ofPurchase.get(purchase) ?? nothing()
      ofPurchase.set(purchase, own)
      for (const books of [own, all]) {
        books[from] -= amount
        books[to] += amount
      }
    }
    let prices = 0n
    for (const { id, price, split, isReleased, settledAt } of purchases) {
      const own = ofPurchase.get(id) ?? nothing()
      prices += price
      const held = settledAt === null ? split.heldBack + (isReleased ? 0n : split.cashback) : 0n
      const { buyers, ...others } = own
      const found = Object.values(others).reduce((sum, amount) => sum + amount, 0n)
      if (-buyers !== price || found !== price || own.held !== held || own.fees !== split.fee) {
        throw new Error(`purchase ${id} of ${price} base units does not add up: look at its entries`)
      }
    }
    if (-all.buyers !== prices) throw new Error(`buyers paid ${-all.buyers} and the prices are ${prices}`)
    return all
  }

  #move(purchase: number, from: Party, to: Party, amount: bigint, owner?: Owner) {
    if (amount < 0n) throw new Error(`money moves forward only, not ${amount}`)
    this.#entries.push({ purchase, from, to, amount })
    if (owner !== undefined) this.#of(owner).got += amount
  }

  #of(owner: Owner): { paid: bigint; got: bigint } {
    const books = this.#owners.get(owner) ?? { paid: 0n, got: 0n }
    this.#owners.set(owner, books)
    return books
  }
}

const nothing = (): Record<Party, bigint> => ({
  buyers: 0n,
  merchants: 0n,
  reviewers: 0n,
  cashback: 0n,
  fees: 0n,
  treasury: 0n,
  held: 0n,
})
