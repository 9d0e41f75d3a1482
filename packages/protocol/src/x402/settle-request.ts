import { ProtocolError } from '../error.ts'
import { VERSION } from './headers.ts'
import * as PaymentPayload from './payment-payload.ts'
import * as PaymentRequirements from './payment-requirements.ts'

/** The body of `/settle` and of `/verify`. */
export type SettleRequest = {
  x402Version: typeof VERSION
  paymentPayload: PaymentPayload.PaymentPayload
  paymentRequirements: PaymentRequirements.PaymentRequirements
}

export type ReceivedSettleRequest = Omit<SettleRequest, 'paymentPayload'> & {
  paymentPayload: PaymentPayload.ReceivedPaymentPayload
}

/**
 * A bad envelope is the caller's fault (`invalid_envelope`); a bad payment inside a good one is the buyer's.
 *
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * declare const request: Request
 * const asked: X402.SettleRequest.ReceivedSettleRequest = X402.SettleRequest.parse(await request.json())
 * export const { payTo }: X402.SettleRequest.SettleRequest['paymentRequirements'] = asked.paymentRequirements
 * ```
 */
export function parse(value: unknown): ReceivedSettleRequest {
  const { x402Version, paymentPayload, paymentRequirements } = Object(value) as Record<string, unknown>
  if (x402Version !== VERSION) {
    throw new ProtocolError('invalid_envelope', `send a JSON object with x402Version ${VERSION}`)
  }
  return {
    x402Version: VERSION,
    paymentPayload: PaymentPayload.parse(paymentPayload),
    paymentRequirements: PaymentRequirements.parse(paymentRequirements),
  }
}
