import { type Address, concatBytes, type Hash, type Hex, keccak256, stringToBytes } from 'viem'
import { find, type KeyRing, type SigningKey } from './attestation-key.ts'
import * as Base64 from './base64.ts'
import { ProtocolError } from './error.ts'
import { decodeText, parseJson } from './json.ts'
import { reader } from './read.ts'

export const VERSION = 4
/**
 * @example
 * ```ts
 * import { AttributionToken } from '@referrer/protocol'
 *
 * AttributionToken.MAX_TOKEN_CHARS // → 4096
 * AttributionToken.MAX_ENDPOINT_CHARS // → 2048
 * AttributionToken.MIN_COMMISSION_MULTIPLIER_BPS // → 4000
 * ```
 */
export const MAX_TOKEN_CHARS = 4096
export const MAX_ENDPOINT_CHARS = 2048
export const MAX_CASHBACK_OF_COMMISSION_BPS = 4000
export const MIN_COMMISSION_MULTIPLIER_BPS = 4000
export const MAX_COMMISSION_MULTIPLIER_BPS = 10_000

/** The terms that a ref link carries. */
export type Terms = {
  chainId: number
  splitRouter: Address
  merchantEndpoint: string
  merchantId: number
  productId: Hex
  reviewId: number
  reviewerAgentId: number
  cashbackOfCommissionBps: number
  commissionMultiplierBps: number
  /** Unix seconds. */
  issuedAt: number
}

/** `kid` names the key that signed. */
export type Payload = { v: typeof VERSION } & Terms & { kid: string }

const SIGNATURE_BYTES = 64
const KID = /^[0-9a-f]{16}$/
const read = reader('invalid_token')

/**
 * @example
 * ```ts
 * import { AttestationKey, AttributionToken } from '@referrer/protocol'
 *
 * const terms: AttributionToken.Terms = {
 *   chainId: 84532,
 *   splitRouter: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
 *   merchantEndpoint: 'https://shop.example/jokes',
 *   merchantId: 5,
 *   productId: `0x${'a1'.repeat(32)}`,
 *   reviewId: 3,
 *   reviewerAgentId: 7,
 *   cashbackOfCommissionBps: AttributionToken.MAX_CASHBACK_OF_COMMISSION_BPS,
 *   commissionMultiplierBps: AttributionToken.MAX_COMMISSION_MULTIPLIER_BPS,
 *   issuedAt: 1_750_000_000,
 * }
 * const key = await AttestationKey.signingKey(crypto.getRandomValues(new Uint8Array(32)))
 * const token = await AttributionToken.mint(terms, key)
 * const ring = await AttestationKey.keyRing(key.attestationPubKey)
 * const payload: AttributionToken.Payload = await AttributionToken.verify(token, ring)
 * payload // → { v: AttributionToken.VERSION, ...terms, kid: key.kid }
 * ```
 */
export async function mint(terms: Terms, key: SigningKey): Promise<string> {
  const payload = stringToBytes(serialize(fromRecord({ v: VERSION, ...terms, kid: key.kid })))
  const signature = await key.sign(payload)
  const token = Base64.encode(concatBytes([payload, signature]), 'url')
  if (token.length > MAX_TOKEN_CHARS) {
    throw new ProtocolError(
      'too_large',
      `the token exceeds ${MAX_TOKEN_CHARS} characters; shorten merchantEndpoint`,
    )
  }
  return token
}

/**
 * Reads a token without checking who signed it. Trust nothing in it: pay and record only what `verify` returned.
 *
 * @example
 * ```ts
 * import { AttributionToken } from '@referrer/protocol'
 *
 * declare const token: string
 * export const { merchantId, productId } = AttributionToken.decodeUnverified(token)
 * ```
 */
export function decodeUnverified(token: unknown): Payload {
  return open(token).payload
}

/**
 * The terms, once the signature holds under the current or the previous key.
 *
 * @example
 * ```ts
 * import { AttestationKey, AttributionToken } from '@referrer/protocol'
 *
 * declare const token: string
 * const ring = await AttestationKey.keyRing('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
 * export const { merchantEndpoint } = await AttributionToken.verify(token, ring)
 * ```
 */
export async function verify(token: unknown, ring: KeyRing): Promise<Payload> {
  const { payload, signed, signature } = open(token)
  const { publicKey } = find(ring, payload.kid)
  if (!(await crypto.subtle.verify('Ed25519', publicKey, signature, signed))) {
    throw new ProtocolError(
      'bad_token_signature',
      'the token was not signed by its key; ask for a fresh ref link',
    )
  }
  return payload
}

/**
 * How contracts and commitments refer to a token.
 *
 * @example
 * ```ts
 * import { AttributionToken } from '@referrer/protocol'
 *
 * AttributionToken.tokenHash('abc') // → '0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'
 * ```
 */
export function tokenHash(token: string): Hash {
  return keccak256(stringToBytes(token))
}

function open(token: unknown) {
  const bytes = Base64.decodeUrl(token, MAX_TOKEN_CHARS)
  if (bytes.length <= SIGNATURE_BYTES) {
    throw new ProtocolError(
      'invalid_token',
      'the token is too short to hold a signature; copy the whole ref link',
    )
  }
  const signed = bytes.subarray(0, -SIGNATURE_BYTES)
  const text = decodeText(signed)
  const payload = fromRecord(read.record(parseJson(text), 'token payload'))
  // Refuses what a lenient JSON parser accepts: another key order, repeated or unknown keys, spaces.
  if (serialize(payload) !== text) read.refuse('token payload', 'the exact text that was minted')
  return { payload, signed, signature: bytes.subarray(-SIGNATURE_BYTES) }
}

/** Keys in the order in which they are signed. */
function fromRecord(given: Record<string, unknown>): Payload {
  if (given.v !== VERSION) {
    throw new ProtocolError(
      'unsupported_version',
      `only attribution tokens of version ${VERSION} are read here`,
    )
  }
  return {
    v: VERSION,
    chainId: read.integer(given.chainId, 'chainId', 1),
    splitRouter: read.address(given.splitRouter, 'splitRouter'),
    merchantEndpoint: endpoint(given.merchantEndpoint),
    merchantId: read.integer(given.merchantId, 'merchantId'),
    productId: read.bytes32(given.productId, 'productId'),
    reviewId: read.integer(given.reviewId, 'reviewId'),
    reviewerAgentId: read.integer(given.reviewerAgentId, 'reviewerAgentId'),
    cashbackOfCommissionBps: read.integer(
      given.cashbackOfCommissionBps,
      'cashbackOfCommissionBps',
      0,
      MAX_CASHBACK_OF_COMMISSION_BPS,
    ),
    commissionMultiplierBps: read.integer(
      given.commissionMultiplierBps,
      'commissionMultiplierBps',
      MIN_COMMISSION_MULTIPLIER_BPS,
      MAX_COMMISSION_MULTIPLIER_BPS,
    ),
    issuedAt: read.integer(given.issuedAt, 'issuedAt'),
    kid: kid(given.kid),
  }
}

function serialize(payload: Payload): string {
  return JSON.stringify(payload)
}

function endpoint(value: unknown): string {
  const text = read.text(value, 'merchantEndpoint')
  const url = text.length <= MAX_ENDPOINT_CHARS && URL.canParse(text) ? new URL(text) : undefined
  // `fetch` refuses an address with credentials, so such a link could never be bought through.
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    read.refuse(
      'merchantEndpoint',
      `an http(s) URL without credentials, at most ${MAX_ENDPOINT_CHARS} characters`,
    )
  }
  return text
}

function kid(value: unknown): string {
  if (typeof value !== 'string' || !KID.test(value)) return read.refuse('kid', '16 lower-case hex digits')
  return value
}
