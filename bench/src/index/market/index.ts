import type { Random } from '../random.ts'
import { bind, claim, edit, purchase, release, review, settle } from './sales.ts'
import type { Act, MarketTransaction, State } from './state.ts'
import { changeProduct, describe, list, manageMerchant, open, register, transfer } from './supply.ts'

export type { MarketTransaction } from './state.ts'
export type Market = {
  /** The next transaction, with no more than `room` events. */
  next(timestamp: number, room: number): MarketTransaction
  /** How many of each noun there are by now. */
  count(): Record<string, number>
}

const LARGEST_TRANSACTION = 3
/** How often each happens, by transactions. What finds nothing to act on gives its turn to a purchase. */
const TURNS: readonly [weight: number, act: Act][] = [
  [40, purchase],
  [26, settle],
  [8, register],
  [8, review],
  [7, release],
  [5, bind],
  [2.5, list],
  [1.2, changeProduct],
  [1.2, edit],
  [0.6, open],
  [0.6, transfer],
  [0.5, claim],
  [0.4, manageMerchant],
]
const ALL_WEIGHTS = TURNS.reduce((sum, [weight]) => sum + weight, 0)

/**
 * A market that goes on for as long as one asks. Each transaction follows from those before it and emits what the contracts would:
 * agents register, some open shops, buyers pay through reviews, escrows are bound, released and settled once their window ends.
 */
export function createMarket(random: Random): Market {
  const state: State = {
    random,
    agents: [],
    merchants: [],
    products: [],
    reviews: [],
    escrows: [],
    claimable: new Map(),
    settled: 0,
    added: { ownership_changes: 0, merchant_roles: 0, review_edits: 0, payouts: 0, proofs: 0 },
  }
  return {
    next(timestamp, room) {
      const fits = room >= LARGEST_TRANSACTION
      if (state.agents.length < 50) return fits ? register(state) : describe(state)
      if (state.merchants.length < 5) return (fits ? open(state) : undefined) ?? describe(state)
      if (state.products.length < 20) return list(state)
      if (state.reviews.length < 20) return review(state)
      return (fits ? turn(state, timestamp) : undefined) ?? purchase(state, timestamp)
    },
    count() {
      const { agents, merchants, products, reviews, escrows } = state
      const { proofs: _, ...added } = state.added
      return {
        identities: agents.length,
        merchants: merchants.length,
        products: products.length,
        reviews: reviews.length,
        escrows: escrows.length,
        ...added,
      }
    },
  }
}

function turn(state: State, timestamp: number): MarketTransaction | undefined {
  let drawn = (state.random.below(1_000_000) / 1_000_000) * ALL_WEIGHTS
  for (const [weight, act] of TURNS) {
    drawn -= weight
    if (drawn < 0) return act(state, timestamp)
  }
  return undefined
}
