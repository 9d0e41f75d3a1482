import type { Address, Hash } from 'viem'
import { reader } from '../read.ts'
import { decodeHeader, encodeHeader } from './headers.ts'
import * as Network from './network.ts'

/** Why a settlement failed. A facilitator may add reasons, so treat an unknown one like `settle_failed`. */
export type ErrorReason = 'invalid_payment' | 'self_referral' | 'settle_failed' | (string & {})

export type SettleSuccess = { success: true; transaction: Hash; network: Network.Network; payer: Address }

export type SettleFailure = {
  success: false
  errorReason: ErrorReason
  errorMessage?: string
  /** Empty, or the earlier transaction where the authorisation was already used. */
  transaction: string
  network: Network.Network
  payer?: Address
  setup_url?: string
  /** Set where nothing was sent to the chain, so that sending the same payment again is safe. */
  retryable?: boolean
  /** It was sent and its outcome is not known yet: ask for the settlement before paying again. */
  pending?: boolean
}

export type SettleResponse = SettleSuccess | SettleFailure

const read = reader('invalid_payment')

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const answer: X402.SettleResponse.SettleResponse = X402.SettleResponse.parse({
 *   success: false,
 *   errorReason: 'settle_failed',
 *   transaction: '',
 *   network: 'eip155:84532',
 *   retryable: true,
 * })
 * const failure = answer as X402.SettleResponse.SettleFailure
 * const reason: X402.SettleResponse.ErrorReason = failure.errorReason
 * reason // → 'settle_failed'
 * ```
 */
export function parse(value: unknown): SettleResponse {
  const given = read.record(value, 'settle response')
  const network = Network.from(Network.parse(given.network))
  if (read.flag(given.success, 'success')) {
    return {
      success: true,
      transaction: read.bytes32(given.transaction, 'transaction'),
      network,
      payer: read.address(given.payer, 'payer'),
    }
  }
  const { errorMessage, payer, setup_url, retryable, pending } = given
  return {
    success: false,
    errorReason: read.text(given.errorReason, 'errorReason'),
    ...(errorMessage === undefined ? {} : { errorMessage: read.text(errorMessage, 'errorMessage') }),
    transaction: given.transaction === '' ? '' : read.bytes32(given.transaction, 'transaction'),
    network,
    ...(payer === undefined ? {} : { payer: read.address(payer, 'payer') }),
    ...(setup_url === undefined ? {} : { setup_url: read.text(setup_url, 'setup_url') }),
    ...(retryable === undefined ? {} : { retryable: read.flag(retryable, 'retryable') }),
    ...(pending === undefined ? {} : { pending: read.flag(pending, 'pending') }),
  }
}

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * declare const settled: X402.SettleResponse.SettleSuccess
 * export const headers = { [X402.PAYMENT_RESPONSE_HEADER]: X402.SettleResponse.serialize(settled) }
 * ```
 */
export function serialize(response: SettleResponse): string {
  return encodeHeader(response, 'standard')
}

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * declare const response: Response
 * const settled = X402.SettleResponse.deserialize(response.headers.get(X402.PAYMENT_RESPONSE_HEADER))
 * export const receipt = settled.success ? settled.transaction : settled.errorReason
 * ```
 */
export function deserialize(header: unknown): SettleResponse {
  return parse(decodeHeader(header))
}
