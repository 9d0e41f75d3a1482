import type { Sale } from './sale.ts'

/**
 * What happened. `message` says what to do where something is for the merchant to do.
 *
 * @example
 * ```ts
 * import type { MerchantEvent } from '@referrer/merchant'
 *
 * export function onEvent(event: MerchantEvent): void {
 *   if (event.type === 'serve_failed') console.error(`${event.sale.payer} has paid and waits`, event.error)
 * }
 * ```
 */
export type MerchantEvent =
  /** Paid and served. */
  | { type: 'sold'; sale: Sale }
  /** Served again, without payment, to the buyer of this sale. */
  | { type: 'returned'; sale: Sale }
  /** A signature let nobody in; the answer was the offer, or 503 where its wallet could not be asked (`invalid_siwx_verifier_error`). */
  | { type: 'sign_in_refused'; reason: string; message: string }
  /** `signIn.storage` failed. A sale is served all the same, but its buyer cannot come back for it. */
  | { type: 'storage_failed'; error: unknown }
  /** A payment was refused; no money moved. */
  | { type: 'refused'; payment: string; reason: string; message: string }
  /** A payment came again that was used before or is being settled. */
  | { type: 'repeated'; payment: string; transaction?: string }
  /** Nobody could tell yet whether a payment was settled: its buyer was told to send it again. */
  | { type: 'unsure'; payment: string; message: string }
  /** The money moved and `serve` failed: the buyer may send the payment again. */
  | { type: 'serve_failed'; sale: Sale; error: unknown }
  /** The money moved and the buyer had hung up: it may send the payment again. */
  | { type: 'buyer_gone'; sale: Sale }
  /** The facilitator does not take what this endpoint sends. */
  | { type: 'facilitator_refused'; message: string }
  /** The router and the token could not be read from the chain. */
  | { type: 'market_unavailable'; error: unknown }
  | { type: 'price_failed'; error: unknown }
  /** `receipts.signer` did not sign: the offer, or the answer of this sale, was sent without its signature. */
  | { type: 'signing_failed'; what: 'offer' | 'receipt'; sale?: Sale; error: unknown }
  | { type: 'claims_failed'; error: unknown }
