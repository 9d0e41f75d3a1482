import { bytesToHex, type Hex, numberToHex } from 'viem'
import { ProtocolError } from './error.ts'
import { reader } from './read.ts'

/** 32 bytes in canonical lower-case hex: what both written forms stand for. */
export type Nonce = Hex
/** How a nonce is written outside the typed data: as a decimal uint256 or as 0x-prefixed 32-byte hex. */
export type NonceForm = 'decimal' | 'bytes32'

const read = reader('invalid_nonce')

/**
 * @example
 * ```ts
 * import { Nonce } from '@referrer/protocol'
 *
 * const nonce: Nonce.Nonce = Nonce.random()
 * nonce.length // → 66
 * ```
 */
export function random(): Nonce {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(32)))
}

/**
 * @example
 * ```ts
 * import { Nonce } from '@referrer/protocol'
 *
 * Nonce.parse('decimal', '255') // → `0x${'00'.repeat(31)}ff`
 * ```
 */
export function parse(form: NonceForm, value: unknown): Nonce {
  if (form === 'bytes32') return read.bytes32(value, 'nonce')
  if (typeof value !== 'string') throw new ProtocolError('invalid_nonce', 'nonce must be a decimal string')
  return numberToHex(read.uint256(value, 'nonce'), { size: 32 })
}

/**
 * @example
 * ```ts
 * import { Nonce } from '@referrer/protocol'
 *
 * const form: Nonce.NonceForm = 'decimal'
 * Nonce.serialize(form, `0x${'00'.repeat(31)}ff`) // → '255'
 * ```
 */
export function serialize(form: NonceForm, nonce: Nonce): string {
  const canonical = read.bytes32(nonce, 'nonce')
  return form === 'bytes32' ? canonical : BigInt(canonical).toString()
}
