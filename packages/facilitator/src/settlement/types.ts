import type { Address, Hash, Hex } from 'viem'
import type { Payment, PaymentKey } from '../payment/payment.ts'
import type { Refused } from '../payment/refused.ts'

/** What `/settle` answers when the money has been split. */
export interface Settled {
  transaction: Hash
  payer: Address
}

/**
 * - `pending`: being sent, or sent and not mined yet
 * - `settled`: split on-chain
 * - `failed`: the chain refused it; no money moved
 * - `refunded`: the money had reached the router and went back to the payer
 * - `unknown`: never heard of, so nothing was sent
 */
export type SettlementStatus = 'pending' | 'settled' | 'failed' | 'refunded' | 'unknown'

export interface Settlement {
  status: SettlementStatus
  transaction: Hash | null
  /** Why it failed. */
  message: string | null
}

/** A transfer that reached the router by itself and that its payer asks to have split. */
export interface Deposit {
  chainId: number
  charge: { txHash: Hash; payer: Address; value: bigint; tokenHash: Hash; signature: Hex }
  attribution: Payment['attribution']
  digest: Hash
}

/** Settles payments of all chains. Every method that fails throws `Refused`, and answers before the deadline of the configuration. */
export interface Settler {
  /** Once per authorisation, however often it is asked for. */
  settle(payment: Payment): Promise<Settled>
  /** Whether it would be settled now. Sends nothing. */
  check(payment: Payment): Promise<void>
  /** Splits a deposit whose transfer has been checked. Given a refusal, it gives it back to its payer, and throws that with the transaction. */
  splitDeposit(deposit: Deposit, refusal?: Refused): Promise<Settled>
  find(key: PaymentKey): Promise<Settlement>
  /** Goes on with what an earlier process left, and runs until the signal. */
  run(signal: AbortSignal): Promise<void>
}
