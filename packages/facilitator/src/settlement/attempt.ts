// One request to settle a payment, and what it knows in each state.
import type { Origin } from '@referrer/chain'
import type { Hash } from 'viem'
import type { Payment, PaymentKey } from '../payment/payment.ts'
import type { Refused, TakeBack } from '../payment/refused.ts'
import type { Order } from './order.ts'
import type { State } from './states.ts'
import type { Mined } from './transaction.ts'

export interface Attempt {
  /** Changed by `move` only. */
  state: State
  readonly key: PaymentKey
  /** Equal for copies of one request. */
  readonly digest: Hash
  /** The request that it was made for, of copies the first. */
  readonly origin: Origin
  /** Aborted when the caller has been told that it took too long: what is not written by then is not begun. */
  readonly signal: AbortSignal
  /** Undefined: the money came by a plain transfer. */
  readonly payment: Payment | undefined
  /** Of money that is in the router. */
  toSplit(): Order
  /** The call by which its payer takes it back, from a time on. */
  takeBack(notBefore: number): Promise<TakeBack>
  /** The money was found in the router. */
  hasArrived: boolean
}

interface Facts {
  queued: { payment: Payment }
  /** `refusal`: the purchase must not be split. */
  used: { payment: Payment; refusal?: Refused | undefined }
  /** `refusal`: it is not split now, and is its payer's to take back from `notBefore` on, or at once where it can never be split. */
  arrived: { refusal?: Refused | undefined; notBefore?: number }
  /** `mayRetry`: it is queued again if the other attempt failed. `isSplit`: the chain has an escrow of it. */
  taken: { mayRetry: boolean; isSplit?: true }
  /** To be sent in a transaction of its own. */
  checked: { order: Order; gas: bigint }
  refused: { refusal: Refused }
  enqueued: { intentId: bigint }
  sent: { mined: Mined }
  /** It was withdrawn before it was sent. */
  open: { message: string }
  settled: { transaction: Hash }
  final: { transaction: Hash }
  failed: { message: string; block: number }
}

/** What an attempt knows in one of these states. */
export type In<S extends State> = { [K in S & keyof Facts]: { state: K } & Facts[K] }[S & keyof Facts]

export const refuse = (refusal: Refused): In<'refused'> => ({ state: 'refused', refusal })
