import { AttributionToken, ProtocolError, X402 } from '@referrer/protocol'
import { type Address, type Hex, keccak256, stringToBytes } from 'viem'

/** What a buyer sent, parsed as far as this endpoint needs it. The facilitator decides whether it is valid. */
export interface Payment {
  /** Names the payment: chain, payer and nonce where it has them. */
  key: string
  /** The hash of the whole payload. */
  fingerprint: Hex
  /** The payload as JSON, for the facilitator. */
  json: string
  payer: Address | undefined
  nonce: Hex | undefined
  value: bigint | undefined
  /** Unix seconds. */
  validBefore: number | undefined
  attributionToken: string | undefined
  buyerAgentId: string | undefined
  /** Whether its nonce commits to its link: then nobody can have it settled for another one. */
  isCommitted: boolean
  /** As `Authorization` has it, where the buyer paid by MPP: the facilitator is sent this instead of the payload. */
  credential?: string
  /** What the buyer calls this purchase, unchecked: see the extension `payment-identifier`. */
  identifier?: unknown
}

type Fields = Record<string, unknown>

export const PAYMENT_IDENTIFIER = 'payment-identifier'
const ADDRESS = /^0x[0-9a-f]{40}$/
const BYTES32 = /^0x[0-9a-f]{64}$/
const DECIMAL = /^[0-9]{1,78}$/

/** How frameworks give a header of a request. */
export type GetHeader = (name: string) => string | null | undefined

/** The payment of a request, or undefined if it has none. Throws a `ProtocolError` that says what is wrong with it. */
export function readPayment(get: GetHeader, network: X402.Network.Network): Payment | undefined {
  const header = get(X402.PAYMENT_SIGNATURE_HEADER) ?? undefined
  return header === undefined
    ? undefined
    : paymentOf(completed(fieldsOf(X402.decodeHeader(header)), get), network)
}

/**
 * The payload with what its request tells of link and buyer, where a strict client has dropped the extensions that it does not know.
 * A payload that names its link is complete: whoever adds headers to it changes nothing.
 */
export function completed<P extends object>(payload: P, get: GetHeader): P {
  const extensions = fieldsOf((payload as Fields).extensions)
  if (textOf(extensions.attributionToken)) return payload
  const told = {
    attributionToken: get(X402.REFERRER_TOKEN_HEADER) || undefined,
    buyerAgentId: get(X402.REFERRER_BUYER_AGENT_ID_HEADER) || undefined,
    attributionSalt: get(X402.REFERRER_ATTRIBUTION_SALT_HEADER) || undefined,
  }
  if (told.attributionToken === undefined) return payload
  return { ...payload, extensions: { ...told, ...extensions, attributionToken: told.attributionToken } }
}

/** Throws a `ProtocolError` where it is nested too deep for JSON. */
export function paymentOf(payload: object, network: X402.Network.Network): Payment {
  const given = fieldsOf(payload)
  const json = textOfJson(given)
  const fingerprint = keccak256(stringToBytes(json))
  const { from, nonce, value, validBefore } = fieldsOf(fieldsOf(given.payload).authorization)
  const payer = matching(ADDRESS, from) as Address | undefined
  const nonceRead = matching(BYTES32, nonce) as Hex | undefined
  const until = matching(DECIMAL, validBefore)
  const {
    attributionToken,
    buyerAgentId,
    attributionSalt,
    [PAYMENT_IDENTIFIER]: identified,
  } = fieldsOf(given.extensions)
  const amount = matching(DECIMAL, value)
  return {
    key: `${network}:${payer && nonceRead ? `${payer}:${nonceRead}` : fingerprint}`,
    fingerprint,
    json,
    payer,
    nonce: nonceRead,
    value: amount === undefined ? undefined : BigInt(amount),
    validBefore: until === undefined ? undefined : Number(until),
    attributionToken: textOf(attributionToken),
    buyerAgentId: textOf(buyerAgentId),
    isCommitted: Boolean(attributionSalt),
    identifier: fieldsOf(fieldsOf(identified).info).id,
  }
}

/** The terms that a token names. Nobody has checked its signature here: the facilitator does. */
export function termsOf(token: string | undefined): AttributionToken.Payload | undefined {
  try {
    return AttributionToken.decodeUnverified(token)
  } catch {
    return undefined
  }
}

function textOfJson(payload: Fields): string {
  try {
    return JSON.stringify(payload)
  } catch (cause) {
    throw new ProtocolError('invalid_payment', 'the payment is nested too deep; send a payment payload', {
      cause,
    })
  }
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

function matching(pattern: RegExp, value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.toLowerCase() : ''
  return pattern.test(text) ? text : undefined
}
