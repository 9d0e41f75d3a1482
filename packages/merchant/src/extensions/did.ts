// Names of signing keys that verifiers can resolve: did:key has the key in it, did:web leads to a document on the shop's host.
import { base64url } from 'jose'
import { refuse } from '../refuse.ts'

/**
 * A private key that signs receipts: Ed25519 (`kty: 'OKP'`) or P-256 (`kty: 'EC'`), as `exportJWK` of `jose` and
 * `crypto.subtle.exportKey('jwk', …)` give it.
 *
 * @example
 * ```ts
 * import type { ReceiptKey } from '@referrer/merchant'
 *
 * export const key: ReceiptKey = JSON.parse(process.env.RECEIPT_KEY ?? 'null')
 * ```
 */
export interface ReceiptKey {
  kty: string
  crv?: string
  x?: string
  y?: string
  d?: string
}

/** What verifiers may know of a key. */
export type PublicJwk = { kty: string; crv: string; x: string; y?: string }

const COORDINATE_BYTES = 32
/** Multicodec prefixes of did:key. */
const ED25519 = [0xed, 0x01]
const P256 = [0x80, 0x24]

/** The parts of the key that may be shown, and the algorithm it signs with. The message of an error shows nothing of the key. */
export function publicPart(key: ReceiptKey): { jwk: PublicJwk; algorithm: 'EdDSA' | 'ES256' } {
  const { kty, crv, x, y, d } = key
  if (isCoordinate(x) && isCoordinate(d)) {
    if (kty === 'OKP' && crv === 'Ed25519') return { jwk: { kty, crv, x }, algorithm: 'EdDSA' }
    if (kty === 'EC' && crv === 'P-256' && isCoordinate(y))
      return { jwk: { kty, crv, x, y }, algorithm: 'ES256' }
  }
  return refuse('receipts.signer', 'a private JWK of Ed25519 or P-256, or a signer with kid and algorithm')
}

/** The URL of the key in its own did:key document. */
export function didKeyOf({ crv, x, y }: PublicJwk): string {
  const bytes = base64url.decode(x)
  const isOdd = y !== undefined && (base64url.decode(y).at(-1) ?? 0) % 2 === 1
  const coded = crv === 'Ed25519' ? [...ED25519, ...bytes] : [...P256, isOdd ? 3 : 2, ...bytes]
  const name = `z${base58(coded)}`
  return `did:key:${name}#${name}`
}

/**
 * The document that a did:web key is looked up in: `did:web:shop.example#key-1` at `https://shop.example/.well-known/did.json`,
 * `did:web:shop.example:jokes#key-1` at `https://shop.example/jokes/did.json`.
 *
 * @example
 * ```ts
 * import { receiptDidDocument, type ReceiptKey } from '@referrer/merchant'
 *
 * declare const key: ReceiptKey
 * // As the answer to GET /.well-known/did.json
 * export const answer = () => Response.json(receiptDidDocument('did:web:shop.example#key-1', key))
 * ```
 */
export function receiptDidDocument(kid: string, key: ReceiptKey): Record<string, unknown> {
  const [id, fragment] = kid.split('#')
  if (!id?.startsWith('did:web:') || !fragment)
    refuse('kid', 'a did:web with a fragment, did:web:<host>#<name>')
  const { jwk } = publicPart(key)
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id,
    verificationMethod: [{ id: kid, type: 'JsonWebKey2020', controller: id, publicKeyJwk: jwk }],
    assertionMethod: [kid],
  }
}

function isCoordinate(value: unknown): value is string {
  if (typeof value !== 'string' || !/^[\w-]{1,64}$/.test(value)) return false
  return base64url.decode(value).length === COORDINATE_BYTES
}

function base58(bytes: readonly number[]): string {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  let rest = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  let text = ''
  // The prefixes are not zero, so there are no leading zeros to write.
  for (; rest > 0n; rest /= 58n) text = alphabet[Number(rest % 58n)] + text
  return text
}
