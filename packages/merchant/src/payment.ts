import { AttributionToken, ProtocolError, X402 } from '@referrer/protocol'
import { type Address, type Hex, keccak256, stringToBytes } from 'viem'

/** What a buyer sent, read as far as this endpoint needs it. Whether it is good is for the facilitator to say. */
export interface Payment {
  /** Names the payment: chain, payer and nonce where it has them. */
  key: string
  /** Of all that was sent. */
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
}

type Fields = Record<string, unknown>

const ADDRESS = /^0x[0-9a-f]{40}$/
const BYTES32 = /^0x[0-9a-f]{64}$/
const DECIMAL = /^[0-9]{1,78}$/

/** Throws a `ProtocolError` that says what is wrong with the header. */
export function readPayment(header: string, network: X402.Network.Network): Payment {
  const payload = fieldsOf(X402.decodeHeader(header))
  const json = textOfJson(payload)
  const fingerprint = keccak256(stringToBytes(json))
  const { from, nonce, value, validBefore } = fieldsOf(fieldsOf(payload.payload).authorization)
  const payer = matching(ADDRESS, from) as Address | undefined
  const nonceRead = matching(BYTES32, nonce) as Hex | undefined
  const until = matching(DECIMAL, validBefore)
  const { attributionToken, buyerAgentId } = fieldsOf(payload.extensions)
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
