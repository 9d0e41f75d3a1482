import { stringToBytes } from 'viem'
import * as Base64 from '../base64.ts'
import { decodeText, parseJson } from '../json.ts'

export const VERSION = 2

export const PAYMENT_REQUIRED_HEADER = 'PAYMENT-REQUIRED'
export const PAYMENT_SIGNATURE_HEADER = 'PAYMENT-SIGNATURE'
export const PAYMENT_RESPONSE_HEADER = 'PAYMENT-RESPONSE'
/**
 * What a buyer sends with its first request, and a strict client with its payment.
 *
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const headers = new Headers({
 *   [X402.REFERRER_TOKEN_HEADER]: 'token-of-the-link',
 *   [X402.REFERRER_BUYER_AGENT_ID_HEADER]: '7',
 *   [X402.REFERRER_ATTRIBUTION_SALT_HEADER]: `0x${'11'.repeat(32)}`,
 * })
 * headers.get('x-referrer-token') // → 'token-of-the-link'
 * ```
 */
export const REFERRER_TOKEN_HEADER = 'X-Referrer-Token'
export const REFERRER_BUYER_AGENT_ID_HEADER = 'X-Referrer-Buyer-Agent-Id'
/** Beside a payment whose client cannot carry `extensions.attributionSalt`. */
export const REFERRER_ATTRIBUTION_SALT_HEADER = 'X-Referrer-Attribution-Salt'

/** Node and most proxies allow 16 KiB for all headers together. */
export const MAX_HEADER_CHARS = 16_384

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * X402.encodeHeader({ x402Version: X402.VERSION }, 'standard') // → 'eyJ4NDAyVmVyc2lvbiI6Mn0='
 * ```
 */
export function encodeHeader(value: object, variant: Base64.Base64Variant): string {
  return Base64.encode(stringToBytes(JSON.stringify(value)), variant)
}

/**
 * Official clients send padded base64, ours unpadded base64url: both are read.
 *
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const sent = new Headers({ [X402.PAYMENT_RESPONSE_HEADER]: 'eyJ4NDAyVmVyc2lvbiI6Mn0=' })
 * X402.decodeHeader(sent.get(X402.PAYMENT_RESPONSE_HEADER)) // → { x402Version: 2 }
 * X402.MAX_HEADER_CHARS // → 16384
 * ```
 */
export function decodeHeader(header: unknown): unknown {
  return parseJson(decodeText(Base64.decode(header, MAX_HEADER_CHARS)))
}
