// Whose payments are worth the gas. A trial shows what a payment does now; a wallet with code, or one that empties itself in between, can do
// something else in the block, and the relayer pays for it. So whoever did that waits, and strangers with code do it a few times an hour at
// most, all together.
import type { Address } from 'viem'

export interface Credit {
  /** Why a payment that its trial found good is not sent now; undefined: it may be, and is given back when it is over. */
  take(payer: Address, hasCode: boolean): string | undefined
  giveBack(payer: Address, hasCode: boolean, isSettled: boolean): void
  /** Its payment failed in the block, and by its own doing. */
  blame(payer: Address, hasCode: boolean): void
}

const HOUR_MS = 3_600_000
const WAIT_MS = 600_000
/** How many payments of wallets with code that never settled one may be under way, or have failed within an hour. */
const STRANGERS = 32
/** Of one wallet with code. */
const EACH = 8
const MOST_REMEMBERED = 10_000

export function createCredit(now: () => number = () => performance.now()): Credit {
  /** Until when a payer waits after a failure. */
  const waiting = new Map<Address, number>()
  /** Wallets with code that have settled here, oldest first. */
  const proven = new Set<Address>()
  /** Payments of wallets with code that are under way. */
  const underWay = new Map<Address, number>()
  let failures: number[] = []

  function count(payer: Address, by: 1 | -1): void {
    const left = (underWay.get(payer) ?? 0) + by
    if (left > 0) underWay.set(payer, left)
    else underWay.delete(payer)
  }

  function strangers(): number {
    const anHourAgo = now() - HOUR_MS
    failures = failures.filter((time) => time > anHourAgo)
    const sent = [...underWay].reduce((sum, [payer, each]) => (proven.has(payer) ? sum : sum + each), 0)
    return sent + failures.length
  }

  return {
    take(payer, hasCode) {
      if ((waiting.get(payer) ?? 0) > now()) return 'a payment of this payer failed in its block a moment ago'
      if (!hasCode) return undefined
      if ((underWay.get(payer) ?? 0) >= EACH) return 'too many payments of this wallet are under way'
      if (!proven.has(payer) && strangers() >= STRANGERS)
        return 'too many payments of contract wallets that are new here failed'
      count(payer, 1)
      return undefined
    },
    giveBack(payer, hasCode, isSettled) {
      if (!hasCode) return
      count(payer, -1)
      if (isSettled) remember(proven.add(payer))
    },
    blame(payer, hasCode) {
      remember(waiting.set(payer, now() + WAIT_MS))
      if (hasCode && !proven.delete(payer)) failures.push(now())
    },
  }
}

function remember(known: Map<Address, unknown> | Set<Address>): void {
  const [oldest] = known.keys()
  if (known.size > MOST_REMEMBERED && oldest) known.delete(oldest)
}
