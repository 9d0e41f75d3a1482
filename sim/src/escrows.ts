import type { Ledger } from './ledger.ts'
import type { Purchase } from './records.ts'

export const DAY_MS = 86_400_000
const WINDOW_MS = 60 * DAY_MS
/** How long settling waits for the end of a dispute. */
const PATIENCE_MS = 8 * DAY_MS

/** Cashback as soon as it is earned, the rest when the window is over. */
export class Escrows {
  readonly #ledger: Ledger
  readonly #changed = new Set<Purchase>()
  /** In the order in which their windows end. */
  #open: Purchase[] = []

  constructor(ledger: Ledger) {
    this.#ledger = ledger
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
      const waits = purchase.link.outcome === 'disputed' && now < purchase.boughtAt + WINDOW_MS + PATIENCE_MS
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
    this.#ledger.paidOut(purchase, 'cashback', split.cashback, purchase.payer)
  }

  #settle(purchase: Purchase, now: number): void {
    const { link, split, isReleased } = purchase
    purchase.settledAt = now
    const isContradicted = link.outcome === 'contradicted' || (link.outcome === 'resolved' && link.upheld)
    purchase.heldBackTo = isContradicted ? 'treasury' : 'reviewers'
    if (isContradicted) this.#ledger.paidOut(purchase, 'treasury', split.heldBack)
    else this.#ledger.paidOut(purchase, 'reviewers', split.heldBack, link.agent.owner)
    if (!isReleased) this.#ledger.paidOut(purchase, 'reviewers', split.cashback, link.agent.owner)
  }
}

export const votesMissing = ({ needsVote, hasVoted }: Purchase): boolean => needsVote && !hasVoted
