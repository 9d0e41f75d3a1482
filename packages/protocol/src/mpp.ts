// The Machine Payments Protocol, as far as it can pay the split router: the intent `charge` of the method `evm`, by an EIP-3009 authorisation.
import { type Address, type Hex, isAddressEqual, keccak256, stringToBytes } from 'viem'
import { ProtocolError } from './error.ts'
import { reader } from './read.ts'
import { decodeHeader } from './x402/headers.ts'
import { parseAuthorization, parseSignature, type SentAuthorization } from './x402/payment-payload.ts'

/**
 * @example
 * ```ts
 * import { Mpp } from '@referrer/protocol'
 *
 * const names: string[] = [Mpp.CHALLENGE_HEADER, Mpp.CREDENTIAL_HEADER, Mpp.RECEIPT_HEADER]
 * names // → ['WWW-Authenticate', 'Authorization', 'Payment-Receipt']
 * ```
 */
export const CHALLENGE_HEADER = 'WWW-Authenticate'
export const CREDENTIAL_HEADER = 'Authorization'
export const RECEIPT_HEADER = 'Payment-Receipt'

/**
 * @example
 * ```ts
 * import { Mpp } from '@referrer/protocol'
 *
 * const words: string[] = [Mpp.METHOD, Mpp.INTENT, Mpp.CREDENTIAL_TYPE]
 * words // → ['evm', 'charge', 'authorization']
 * ```
 */
export const METHOD = 'evm'
export const INTENT = 'charge'
export const CREDENTIAL_TYPE = 'authorization'

/** As a buyer sends it back. `request` and `opaque` are base64url of JSON, and count as they are written. */
export type Challenge = {
  id: string
  realm: string
  request: string
  /** An RFC 3339 date. */
  expires?: string
  digest?: string
  opaque?: string
}

/** What a challenge asks to be paid. */
export type Charge = {
  /** Base units, decimal. */
  amount: string
  currency: Address
  recipient: Address
  chainId: number
}

/** A challenge and the authorisation that was signed for it. */
export type Credential = {
  challenge: Challenge
  charge: Charge
  signature: Hex
  authorization: SentAuthorization
}

const read = reader('invalid_payment')
const SCHEME = /^Payment +([A-Za-z0-9_=-]+)$/i

/**
 * The credential among those of an `Authorization` header, or undefined where the header is of other schemes.
 *
 * @example
 * ```ts
 * import { Mpp } from '@referrer/protocol'
 *
 * Mpp.credentialIn('Bearer abc, Payment e30') // → 'Payment e30'
 * Mpp.credentialIn('Bearer abc') // → undefined
 * ```
 */
export function credentialIn(header: string): string | undefined {
  return header
    .split(',')
    .map((part) => part.trim())
    .find((part) => /^Payment(?:\s|$)/i.test(part))
}

/**
 * Reads a credential and checks that its authorisation pays what its own challenge asks for. Who issued the challenge is for the seller to check.
 *
 * @example
 * ```ts
 * import { Mpp } from '@referrer/protocol'
 *
 * declare const request: Request
 * const credential: Mpp.Credential = Mpp.parseCredential(request.headers.get(Mpp.CREDENTIAL_HEADER))
 * const charge: Mpp.Charge = credential.charge
 * const challenge: Mpp.Challenge = credential.challenge
 * export const paid = [challenge.id, charge.amount, credential.authorization.from]
 * ```
 */
export function parseCredential(header: unknown): Credential {
  const encoded = typeof header === 'string' ? SCHEME.exec(header)?.[1] : undefined
  if (!encoded)
    return read.refuse('the credential', `"Payment" and base64url, as ${CREDENTIAL_HEADER} has it`)
  const given = read.record(decoded(encoded, 'the credential'), 'the credential')
  const challenge = parseChallenge(given.challenge)
  const charge = parseCharge(decoded(challenge.request, 'challenge.request'))
  const payload = read.record(given.payload, 'payload')
  if (payload.type !== CREDENTIAL_TYPE) read.refuse('payload.type', `"${CREDENTIAL_TYPE}"`)
  const authorization = parseAuthorization(payload)
  const { from, to, value, nonce } = authorization
  if (nonce !== challengeHash(challenge))
    read.refuse('payload.nonce', 'the hash of the challenge id and realm')
  if (!isAddressEqual(to, charge.recipient)) read.refuse('payload.to', `the recipient ${charge.recipient}`)
  if (value !== charge.amount) read.refuse('payload.value', `the amount ${charge.amount}`)
  const source = `did:pkh:eip155:${charge.chainId}:${from}`
  const named = given.source ?? source
  if (typeof named !== 'string' || named.toLowerCase() !== source.toLowerCase()) {
    read.refuse('source', `${source}, or left out`)
  }
  return { challenge, charge, signature: parseSignature(payload.signature), authorization }
}

/**
 * The nonce of the authorisation that answers a challenge.
 *
 * @example
 * ```ts
 * import { Mpp } from '@referrer/protocol'
 *
 * Mpp.challengeHash({ id: 'abc', realm: 'shop.example' }).length // → 66
 * ```
 */
export function challengeHash({ id, realm }: Pick<Challenge, 'id' | 'realm'>): Hex {
  return keccak256(stringToBytes(`${id}${realm}`))
}

function parseChallenge(value: unknown): Challenge {
  const given = read.record(value, 'challenge')
  if (given.method !== METHOD) read.refuse('challenge.method', `"${METHOD}"`)
  if (given.intent !== INTENT) read.refuse('challenge.intent', `"${INTENT}"`)
  const challenge: Challenge = {
    id: read.text(given.id, 'challenge.id'),
    realm: read.text(given.realm, 'challenge.realm'),
    request: read.text(given.request, 'challenge.request'),
  }
  for (const name of ['expires', 'digest', 'opaque'] as const) {
    if (given[name] !== undefined) challenge[name] = read.text(given[name], `challenge.${name}`)
  }
  return challenge
}

function parseCharge(value: unknown): Charge {
  const given = read.record(value, 'challenge.request')
  const { chainId, splits } = read.record(given.methodDetails, 'request.methodDetails')
  // The stock client signs no splits, and the router makes its own.
  if (splits !== undefined) read.refuse('request.methodDetails.splits', 'left out')
  return {
    amount: read.decimal(given.amount, 'request.amount'),
    currency: read.address(given.currency, 'request.currency'),
    recipient: read.address(given.recipient, 'request.recipient'),
    chainId: read.integer(chainId, 'request.methodDetails.chainId', 1),
  }
}

function decoded(text: string, what: string): unknown {
  try {
    return decodeHeader(text)
  } catch (cause) {
    throw new ProtocolError('invalid_payment', `${what} must be base64url of JSON`, { cause })
  }
}
