// Public keys in DIDs and DID documents: P-256, secp256k1 and Ed25519.
import { createPublicKey, ECDH, type JsonWebKey, type KeyObject } from 'node:crypto'
import { fieldsOf, listOf } from '../../kit/loose-json.ts'

export interface Did {
  method: string
  /** What follows the method, still percent-encoded. */
  id: string
  fragment: string | undefined
}

/** Undefined: it is not a DID URL with a fragment at most. */
export function parseDid(text: string): Did | undefined {
  const [, method, id, fragment] = /^did:([a-z0-9]+):([\w.:%-]+)(?:#([\w.:%-]*))?$/.exec(text) ?? []
  return method && id ? { method, id, fragment: fragment || undefined } : undefined
}

/** The host, with its port if it has one, of a did:web without a path; else undefined. */
export function hostOfDid({ method, id }: Did): string | undefined {
  if (method !== 'web' || id.includes(':')) return undefined
  try {
    return decodeURIComponent(id).toLowerCase()
  } catch {
    return undefined
  }
}

/** The key that a did:key or did:jwk is; undefined for other DIDs and keys. */
export function keyOfDid({ method, id }: Did): KeyObject | undefined {
  if (method === 'key') return multibaseKey(id)
  if (method !== 'jwk') return undefined
  try {
    return jwkKey(JSON.parse(Buffer.from(id, 'base64url').toString()))
  } catch {
    return undefined
  }
}

export interface ListedKey {
  /** As the document writes it, perhaps relative to the document. */
  id: string
  key: KeyObject
}

/** Limit for the keys of a document. */
const MOST_KEYS = 64

/** The keys that a DID document lists to sign statements with. */
export function keysIn(document: unknown): ListedKey[] {
  const { verificationMethod, assertionMethod } = fieldsOf(document)
  return [...listOf(verificationMethod), ...listOf(assertionMethod)].slice(0, MOST_KEYS).flatMap((listed) => {
    const { id, publicKeyJwk, publicKeyMultibase } = fieldsOf(listed)
    // A reference to a key of the same document is no key, one to a did:key is.
    const did = typeof listed === 'string' ? parseDid(listed) : undefined
    const key =
      (did && keyOfDid(did)) ??
      jwkKey(publicKeyJwk) ??
      (typeof publicKeyMultibase === 'string' ? multibaseKey(publicKeyMultibase) : undefined)
    return key ? [{ id: typeof id === 'string' ? id : String(listed), key }] : []
  })
}

const CURVES = new Map([
  ['secp256k1', 'EC'],
  ['P-256', 'EC'],
  ['Ed25519', 'OKP'],
])

function jwkKey(jwk: unknown): KeyObject | undefined {
  const { kty, crv, x, y } = fieldsOf(jwk)
  if (typeof crv !== 'string' || CURVES.get(crv) !== kty) return undefined
  return importKey({ kty, crv, x, ...(kty === 'EC' && { y }) } as JsonWebKey)
}

function importKey(key: JsonWebKey): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'jwk' })
  } catch {
    return undefined
  }
}

/** Prefixes (multicodec) of public keys, each with the curve. */
const PREFIXES = [
  { prefix: 'ed01', curve: 'Ed25519', name: '' },
  { prefix: 'e701', curve: 'secp256k1', name: 'secp256k1' },
  { prefix: '8024', curve: 'P-256', name: 'prime256v1' },
] as const

function multibaseKey(text: string): KeyObject | undefined {
  const bytes = text.startsWith('z') ? base58(text.slice(1)) : undefined
  const known = PREFIXES.find(({ prefix }) => bytes?.toString('hex', 0, 2) === prefix)
  if (!bytes || !known) return undefined
  const key = bytes.subarray(2)
  if (known.name === '') return importKey({ kty: 'OKP', crv: known.curve, x: key.toString('base64url') })
  try {
    const point = ECDH.convertKey(key, known.name, undefined, undefined, 'uncompressed') as Buffer
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
    return importKey({ kty: 'EC', crv: known.curve, x, y } as JsonWebKey)
  } catch {
    return undefined
  }
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** More than a key of any curve here needs. */
const MOST_DIGITS = 64

/** Undefined: it is not base58, or too long for a key. No key here begins with a zero byte. */
function base58(text: string): Buffer | undefined {
  const digits = [...text].map((digit) => ALPHABET.indexOf(digit))
  if (text.length > MOST_DIGITS || digits.includes(-1)) return undefined
  const number = digits.reduce((sum, digit) => sum * 58n + BigInt(digit), 0n).toString(16)
  return Buffer.from(number.padStart(number.length + (number.length % 2), '0'), 'hex')
}
