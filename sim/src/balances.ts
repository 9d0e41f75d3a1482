import type { Owner, Purchase } from './records.ts'

/** Who holds money. `held`: the escrow. */
export type Party = 'buyers' | 'merchants' | 'reviewers' | 'cashback' | 'fees' | 'treasury' | 'held'

/** A movement of money caused by one purchase. */
type Movement = { purchase: number; from: Party; to: Party; amount: bigint }

/** Records all movements of money, so that every unit that buyers paid can be accounted for. */
export class Balances {
  readonly #movements: Movement[] = []
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

  /** A payment out of the escrow. */
  paidOut({ id }: Purchase, to: 'reviewers' | 'cashback' | 'treasury', amount: bigint, owner?: Owner) {
    this.#move(id, 'held', to, amount, owner)
  }

  /** What these owners received, minus what they paid. */
  balanceOf(owners: Iterable<Owner>): bigint {
    let sum = 0n
    for (const owner of owners) sum += this.#of(owner).got - this.#of(owner).paid
    return sum
  }

  /**
   * The final balance of each party; that of `buyers` is negative. Throws unless the balances add up, for each
   * purchase and in total.
   */
  check(purchases: readonly Purchase[]): Record<Party, bigint> {
    const ofPurchase = new Map<number, Record<Party, bigint>>()
    const all = zero()
    for (const { purchase, from, to, amount } of this.#movements) {
      const own = ofPurchase.get(purchase) ?? zero()
      ofPurchase.set(purchase, own)
      for (const balances of [own, all]) {
        balances[from] -= amount
        balances[to] += amount
      }
    }
    let prices = 0n
    for (const { id, price, split, isReleased, settledAt } of purchases) {
      const own = ofPurchase.get(id) ?? zero()
      prices += price
      const held = settledAt === null ? split.heldBack + (isReleased ? 0n : split.cashback) : 0n
      const { buyers, ...others } = own
      const found = Object.values(others).reduce((sum, amount) => sum + amount, 0n)
      if (-buyers !== price || found !== price || own.held !== held || own.fees !== split.fee) {
        throw new Error(`purchase ${id} of ${price} base units does not add up: look at its movements`)
      }
    }
    if (-all.buyers !== prices) throw new Error(`buyers paid ${-all.buyers} and the prices are ${prices}`)
    return all
  }

  #move(purchase: number, from: Party, to: Party, amount: bigint, owner?: Owner) {
    if (amount < 0n) throw new Error(`a movement cannot be negative: ${amount}`)
    this.#movements.push({ purchase, from, to, amount })
    if (owner !== undefined) this.#of(owner).got += amount
  }

  #of(owner: Owner): { paid: bigint; got: bigint } {
    const balance = this.#owners.get(owner) ?? { paid: 0n, got: 0n }
    this.#owners.set(owner, balance)
    return balance
  }
}

const zero = (): Record<Party, bigint> => ({
  buyers: 0n,
  merchants: 0n,
  reviewers: 0n,
  cashback: 0n,
  fees: 0n,
  treasury: 0n,
  held: 0n,
})
