import { type Address, type Hex, isHex } from 'viem'
import { reader } from '../read.ts'
import * as Extensions from './extensions.ts'
import { decodeHeader, encodeHeader, VERSION } from './headers.ts'
import { parseResource, type ResourceInfo } from './payment-required.ts'
import * as PaymentRequirements from './payment-requirements.ts'

/** What the buyer sends back: a signed EIP-3009 authorisation and the extensions it was shown. */
export type PaymentPayload = {
  x402Version: typeof VERSION
  resource?: ResourceInfo
  accepted: PaymentRequirements.PaymentRequirements
  payload: {
    /** 65 bytes of a plain wallet, or whatever a contract wallet checks. */
    signature: Hex
    authorization: SentAuthorization
  }
  extensions: Extensions.Extensions
}

/** As a facilitator receives it. A buyer may leave out `accepted`, because the settle request names the requirements too. */
export type ReceivedPaymentPayload = Omit<PaymentPayload, 'accepted'> & {
  accepted?: PaymentRequirements.AcceptedRequirements
}

/** Integers as decimal text. */
export type SentAuthorization = {
  from: Address
  to: Address
  value: string
  validAfter: string
  validBefore: string
  nonce: Hex
}

const read = reader('invalid_payment')

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * declare const request: Request
 * const header = request.headers.get(X402.PAYMENT_SIGNATURE_HEADER)
 * const payment: X402.PaymentPayload.ReceivedPaymentPayload = X402.PaymentPayload.parse(X402.decodeHeader(header))
 * export const authorization: X402.PaymentPayload.SentAuthorization = payment.payload.authorization
 * ```
 */
export function parse(value: unknown): ReceivedPaymentPayload {
  const given = read.record(value, 'payment payload')
  if (given.x402Version !== undefined && given.x402Version !== VERSION) {
    read.refuse("the payload's x402Version", String(VERSION))
  }
  const { signature, authorization } = read.record(given.payload, 'payload')
  return {
    x402Version: VERSION,
    ...(given.resource === undefined ? {} : { resource: parseResource(given.resource) }),
    ...(given.accepted === undefined ? {} : { accepted: PaymentRequirements.parseAccepted(given.accepted) }),
    payload: { signature: parseSignature(signature), authorization: parseAuthorization(authorization) },
    extensions: Extensions.parse(given.extensions),
  }
}

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * declare const payment: X402.PaymentPayload.PaymentPayload
 * export const headers = { [X402.PAYMENT_SIGNATURE_HEADER]: X402.PaymentPayload.serialize(payment) }
 * ```
 */
export function serialize(payload: PaymentPayload): string {
  return encodeHeader(payload, 'url')
}

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * declare const request: Request
 * const header = request.headers.get(X402.PAYMENT_SIGNATURE_HEADER)
 * export const { attributionToken } = X402.PaymentPayload.deserialize(header).extensions
 * ```
 */
export function deserialize(header: unknown): ReceivedPaymentPayload {
  return parse(decodeHeader(header))
}

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * declare const sent: unknown
 * export const { from, nonce } = X402.PaymentPayload.parseAuthorization(sent)
 * ```
 */
export function parseAuthorization(value: unknown): SentAuthorization {
  const given = read.record(value, 'authorization')
  return {
    from: read.address(given.from, 'authorization.from'),
    to: read.address(given.to, 'authorization.to'),
    value: read.decimal(given.value, 'authorization.value'),
    validAfter: read.decimal(given.validAfter, 'authorization.validAfter'),
    validBefore: read.decimal(given.validBefore, 'authorization.validBefore'),
    nonce: read.bytes32(given.nonce, 'authorization.nonce'),
  }
}

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * X402.PaymentPayload.parseSignature('0x1234') // → '0x1234'
 * ```
 */
export function parseSignature(value: unknown): Hex {
  const isBytes = isHex(value) && value.length >= 4 && value.length % 2 === 0
  return isBytes ? value : read.refuse('payload.signature', '0x-prefixed hex bytes')
}
