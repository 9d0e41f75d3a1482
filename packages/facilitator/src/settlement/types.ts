import type { Address, Hash, Hex } from 'viem'
import type { Payment, PaymentKey, PurchaseId } from '../payment/payment.ts'
import type { Refused } from '../payment/refused.ts'

/** What `/settle` answers when the money has been split. */
export interface Settled {
  transaction: Hash
  payer: Address
}

/**
 * - `pending`: being sent, or sent and not mined yet
 * - `settled`: split on-chain
 * - `failed`: it was sent without effect and has ended; no money moved, or it is its payer's to take back
 * - `unknown`: nothing was sent
 */
export type SettlementStatus = 'pending' | 'settled' | 'failed' | 'unknown'

export interface Settlement {
  status: SettlementStatus
  transaction: Hash | null
  /** Why it failed. */
  message: string | null
  /** Of a pending one that was sent without effect: until when its authorisation can be used, in Unix seconds. */
  until?: number
}

/** A transfer that reached the router by itself and that its payer asks to have split. */
export interface Deposit {
  chainId: number
  charge: { txHash: Hash; payer: Address; value: bigint; tokenHash: Hash; signature: Hex }
  attribution: Payment['attribution']
  digest: Hash
}

/** Why a deposit is not split now, and from when on its payer may take it back: at once, where it can never be split. */
export interface Unless {
  refusal?: Refused | undefined
  notBefore?: number
}

/** Settles payments of all chains. Every method that fails throws `Refused`, and answers before the deadline of the configuration. */
export interface Settler {
  /** Once per authorisation, however often it is asked for. `client`: who asks. */
  settle(payment: Payment, client: string): Promise<Settled>
  /** Whether it would be settled now. Sends nothing. */
  check(payment: Payment, client: string): Promise<void>
  /** What a request of this purchase is told that was refused. */
  told(error: unknown, purchase: PurchaseId): Promise<Refused>
  /** Splits a deposit whose transfer has been checked, unless something speaks against it. */
  splitDeposit(deposit: Deposit, unless: Unless): Promise<Settled>
  find(key: PaymentKey): Promise<Settlement>
  /** Goes on with what an earlier process left, and runs until the signal. */
  run(signal: AbortSignal): Promise<void>
}
