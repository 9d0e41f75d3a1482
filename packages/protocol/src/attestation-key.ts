import { bytesToHex, concatBytes, hexToBytes } from 'viem'
import * as Base64 from './base64.ts'
import { ProtocolError } from './error.ts'

/** An Ed25519 public key as 64 lower-case hex digits, the form in which the manifest publishes it. */
export type AttestationPubKey = string

export type VerifyingKey = { attestationPubKey: AttestationPubKey; kid: string; publicKey: CryptoKey }
/** `sign` may ask somebody else who has the private key. */
export type SigningKey = {
  attestationPubKey: AttestationPubKey
  kid: string
  sign: (payload: Uint8Array) => Promise<Uint8Array>
}

/** The keys whose tokens are valid now: the current one, and the one before, so that links survive one rotation. */
export type KeyRing = { current: VerifyingKey; previous?: VerifyingKey }

const KEY_TEXT = /^[0-9a-f]{64}$/
// DER header of a PKCS #8 Ed25519 private key (RFC 8410): WebCrypto imports no bare seed.
const PKCS8_HEADER = hexToBytes('0x302e020100300506032b657004220420')

/**
 * Tokens name their key by its first 16 hex digits.
 *
 * @example
 * ```ts
 * import { AttestationKey } from '@referrer/protocol'
 *
 * const attestationPubKey: AttestationKey.AttestationPubKey =
 *   'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
 * AttestationKey.kidOf(attestationPubKey) // → 'd75a980182b10ab7'
 * ```
 */
export function kidOf(attestationPubKey: AttestationPubKey): string {
  return check(attestationPubKey).slice(0, 16)
}

/**
 * A signing key from its 32-byte secret seed, which nobody can read from it again.
 *
 * @example
 * ```ts
 * import { AttestationKey } from '@referrer/protocol'
 *
 * const key: AttestationKey.SigningKey = await AttestationKey.signingKey(new Uint8Array(32).fill(7))
 * key.attestationPubKey.length // → 64
 * ```
 */
export async function signingKey(seed: Uint8Array): Promise<SigningKey> {
  if (seed.length !== 32)
    throw new ProtocolError('invalid_key', 'an Ed25519 seed has 32 bytes; generate a new one')
  const pkcs8 = new Uint8Array(concatBytes([PKCS8_HEADER, seed]))
  const [privateKey, extractable] = await Promise.all([
    crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign']),
    crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', true, ['sign']),
  ])
  const { x = '' } = await crypto.subtle.exportKey('jwk', extractable)
  const attestationPubKey = bytesToHex(Base64.decodeUrl(x, 64)).slice(2)
  return {
    attestationPubKey,
    kid: kidOf(attestationPubKey),
    sign: async (payload) =>
      new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, new Uint8Array(payload))),
  }
}

/**
 * @example
 * ```ts
 * import { AttestationKey } from '@referrer/protocol'
 *
 * const key: AttestationKey.VerifyingKey = await AttestationKey.verifyingKey(
 *   'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
 * )
 * key.kid // → 'd75a980182b10ab7'
 * ```
 */
export async function verifyingKey(attestationPubKey: AttestationPubKey): Promise<VerifyingKey> {
  const raw = new Uint8Array(hexToBytes(`0x${check(attestationPubKey)}`))
  try {
    const publicKey = await crypto.subtle.importKey('raw', raw, 'Ed25519', true, ['verify'])
    return { attestationPubKey, kid: kidOf(attestationPubKey), publicKey }
  } catch (cause) {
    throw new ProtocolError(
      'invalid_key',
      'this runtime takes no such Ed25519 key; check attestationPubKey',
      {
        cause,
      },
    )
  }
}

/**
 * Imports the keys. Keep the ring: importing is slow.
 *
 * @example
 * ```ts
 * import { AttestationKey } from '@referrer/protocol'
 *
 * const ring: AttestationKey.KeyRing = await AttestationKey.keyRing(
 *   'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
 * )
 * ring.previous // → undefined
 * ```
 */
export async function keyRing(current: AttestationPubKey, previous?: AttestationPubKey): Promise<KeyRing> {
  const ring = { current: await verifyingKey(current) }
  return previous === undefined ? ring : { ...ring, previous: await verifyingKey(previous) }
}

/**
 * Makes `next` the current key and keeps the replaced one. Rotating to the current key again changes nothing.
 *
 * @example
 * ```ts
 * import { AttestationKey } from '@referrer/protocol'
 *
 * const [old, next] = await Promise.all([1, 2].map((byte) => AttestationKey.signingKey(new Uint8Array(32).fill(byte))))
 * const ring = await AttestationKey.keyRing(old!.attestationPubKey)
 * const rotated = await AttestationKey.rotate(ring, next!.attestationPubKey)
 * rotated.previous?.kid === old!.kid // → true
 * ```
 */
export async function rotate(ring: KeyRing, next: AttestationPubKey): Promise<KeyRing> {
  if (next === ring.current.attestationPubKey) return ring
  return { current: await verifyingKey(next), previous: ring.current }
}

/**
 * @example
 * ```ts
 * import { AttestationKey } from '@referrer/protocol'
 *
 * const ring = await AttestationKey.keyRing('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
 * AttestationKey.find(ring, 'd75a980182b10ab7') === ring.current // → true
 * ```
 */
export function find(ring: KeyRing, kid: string): VerifyingKey {
  if (ring.current.kid === kid) return ring.current
  if (ring.previous?.kid === kid) return ring.previous
  throw new ProtocolError(
    'unknown_key',
    `no trusted key has id ${kid}; read the manifest again or ask for a fresh link`,
  )
}

function check(attestationPubKey: AttestationPubKey): AttestationPubKey {
  if (!KEY_TEXT.test(attestationPubKey)) {
    throw new ProtocolError('invalid_key', 'attestationPubKey must be 64 lower-case hex digits, without 0x')
  }
  return attestationPubKey
}
