// A transaction of ours, as this process follows it.
import type { Address, Hash } from 'viem'
import type { Context } from '../context.ts'
import type { PaymentKey } from '../payment/payment.ts'
import type { StoredState } from './states.ts'
import type { Ending, Final } from './store.ts'

export type Records = Pick<Context, 'sql' | 'log' | 'config'> & {
  onFinal(final: readonly Final[]): void
}

/** A payment of a transaction, in the state that its row had when it was last read or written. */
export interface TrackedPayment {
  key: PaymentKey
  /** Changed by `move` only. */
  state: StoredState
}

export interface TrackedTransaction {
  intentId: bigint
  relayer: Address | undefined
  /** Undefined until they are read: an earlier process, or another one, has written them. */
  payments: TrackedPayment[] | undefined
  /** Relayers that could not send it. */
  heldBy: Set<Address>
  /** By the monotonic clock. */
  since: number
  first: PromiseWithResolvers<Tracked>
  /** `first` is not resolved. */
  isWaiting: boolean
  /** The block in which it was seen mined, and what it did there. */
  seen: { blockHash: Hash; endings: Ending[] } | undefined
}

/** What became of a transaction when it was first mined; or why it was never sent, and never will be. */
export type Tracked = { mined: Mined } | { message: string }

export interface Mined {
  endings: Ending[]
  hasReverted: boolean
  block: number
  gasUsed: bigint
}
