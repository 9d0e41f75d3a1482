export type ProtocolErrorCode =
  | 'bad_token_signature'
  | 'commitment_expired'
  | 'invalid_amount'
  | 'invalid_attribution'
  | 'invalid_authorization'
  | 'invalid_base64'
  | 'invalid_commitment'
  | 'invalid_content'
  | 'invalid_envelope'
  | 'invalid_expiry'
  | 'invalid_feedback'
  | 'invalid_hash'
  | 'invalid_id'
  | 'invalid_json'
  | 'invalid_key'
  | 'invalid_network'
  | 'invalid_nonce'
  | 'invalid_payment'
  | 'invalid_product_id'
  | 'invalid_ref_link'
  | 'invalid_registration'
  | 'invalid_split'
  | 'invalid_timestamp'
  | 'invalid_token'
  | 'invalid_votes'
  | 'malformed_signature'
  | 'recovery_unavailable'
  | 'timestamp_out_of_range'
  | 'too_large'
  | 'unknown_key'
  | 'unrecoverable_signature'
  | 'unsupported_version'

/**
 * The one error of this package. Branch on `code`; show `message`, which says what to do next.
 *
 * @example
 * ```ts
 * import { Money, ProtocolError, type ProtocolErrorCode } from '@referrer/protocol'
 *
 * let code: ProtocolErrorCode | undefined
 * try {
 *   Money.parse('1.2345678')
 * } catch (error) {
 *   if (error instanceof ProtocolError) code = error.code
 * }
 * code // → 'invalid_amount'
 * ```
 */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: ProtocolErrorCode

  constructor(code: ProtocolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
