import type { Balances } from './balances.ts'
import type { Purchase } from './records.ts'

export const DAY_MS = 86_400_000
const WINDOW_MS = 60 * DAY_MS
/** How long a settlement waits for the end of a dispute. */
const LONGEST_DELAY_MS = 8 * DAY_MS

/** Releases cashback as soon as it is earned, and settles the rest when the window ends. */
export class Escrows {
  readonly #balances: Balances
  readonly #changed = new Set<Purchase>()
  /** In the order in which their windows end. */
  #open: Purchase[] = []

  constructor(balances: Balances) {
    this.#balances = balances
  }

  opened(purchase: Purchase): void {
    this.#open.push(purchase)
  }

  changed(purchase: Purchase): void {
    this.#changed.add(purchase)
  }

  follow(now: number): void {
    for (const purchase of this.#changed) this.#release(purchase)
    this.#changed.clear()
    const due = this.#open.findIndex(({ boughtAt }) => boughtAt + WINDOW_MS > now)
    const ended = this.#open.splice(0, due === -1 ? this.#open.length : due)
    const waiting = ended.filter((purchase) => {
      const waits =
        purchase.link.outcome === 'disputed' && now < purchase.boughtAt + WINDOW_MS + LONGEST_DELAY_MS
      if (!waits) this.#settle(purchase, now)
      return waits
    })
    this.#open.unshift(...waiting)
  }

  #release(purchase: Purchase): void {
    const { buyer, review, isReleased, settledAt, split } = purchase
    const isEarned = buyer !== null && review !== null && !votesMissing(purchase)
    if (!isEarned || isReleased || settledAt !== null || split.cashback === 0n) return
    purchase.isReleased = true
    this.#balances.paidOut(purchase, 'cashback', split.cashback, purchase.payer)
  }

  #settle(purchase: Purchase, now: number): void {
    const { link, split, isReleased } = purchase
    purchase.settledAt = now
    const isContradicted = link.outcome === 'contradicted' || (link.outcome === 'resolved' && link.upheld)
    purchase.heldBackTo = isContradicted ? 'treasury' : 'reviewers'
    if (isContradicted) this.#balances.paidOut(purchase, 'treasury', split.heldBack)
    else this.#balances.paidOut(purchase, 'reviewers', split.heldBack, link.agent.owner)
    if (!isReleased) this.#balances.paidOut(purchase, 'reviewers', split.cashback, link.agent.owner)
  }
}

export const votesMissing = ({ needsVote, hasVoted }: Purchase): boolean => needsVote && !hasVoted
