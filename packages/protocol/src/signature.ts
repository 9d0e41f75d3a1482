import { hexToBytes } from 'viem'
import { ProtocolError } from './error.ts'

/** A secp256k1 signature that was checked: r and s in range, s low, parity 0 or 1. */
export type Signature = {
  /** r ‖ s, 64 bytes. */
  compact: Uint8Array
  yParity: 0 | 1
}

const SIXTY_FIVE_BYTES = /^0x[0-9a-fA-F]{130}$/
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const HALF_ORDER = CURVE_ORDER / 2n
const PARITY: Record<number, 0 | 1> = { 0: 0, 1: 1, 27: 0, 28: 1 }

/**
 * `0x` + 65 bytes hex, v 27/28 or 0/1. Anybody can turn a signature into a second valid one by negating s, so
 * only the low half is accepted: one message and key, one signature.
 *
 * @example
 * ```ts
 * import { Signature } from '@referrer/protocol'
 *
 * const one = '01'.padStart(64, '0')
 * const signature: Signature.Signature = Signature.parse(`0x${one}${one}1b`)
 * signature.yParity // → 0
 * ```
 */
export function parse(value: unknown): Signature {
  if (typeof value !== 'string' || !SIXTY_FIVE_BYTES.test(value)) {
    throw new ProtocolError('malformed_signature', 'signature must be 0x-prefixed 65-byte hex')
  }
  const r = BigInt(value.slice(0, 66))
  const s = BigInt(`0x${value.slice(66, 130)}`)
  const yParity = PARITY[Number(`0x${value.slice(130)}`)]
  if (yParity === undefined) refuse('v must be 27 or 28 (or 0 or 1)')
  if (r === 0n || r >= CURVE_ORDER) refuse('r must be from 1 to the curve order')
  if (s === 0n || s > HALF_ORDER) refuse('s must be from 1 to half the curve order; send the low-s form')
  return { compact: hexToBytes(`0x${value.slice(2, 130)}`), yParity }
}

function refuse(why: string): never {
  throw new ProtocolError('unrecoverable_signature', `no signer can be recovered: ${why}`)
}
