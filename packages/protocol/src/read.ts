import { type Address, checksumAddress, type Hex, isAddress, maxUint256 } from 'viem'
import { ProtocolError, type ProtocolErrorCode } from './error.ts'

/** What callers may pass where the contracts take a uint256. */
export type Uint256Input = bigint | number | string

const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/
const BYTES32 = /^0x[0-9a-fA-F]{64}$/

/** Readers of untrusted values. Each returns the canonical form or throws a `ProtocolError` of the given code. */
export function reader(code: ProtocolErrorCode) {
  function refuse(what: string, expected: string): never {
    throw new ProtocolError(code, `${what} must be ${expected}`)
  }

  function record(value: unknown, what: string): Record<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(what, 'a JSON object')
    return value as Record<string, unknown>
  }

  /** Text that every UTF-8 encoder turns into the same bytes: a lone surrogate would hash differently in each. */
  function text(value: unknown, what: string): string {
    if (typeof value !== 'string' || !value.isWellFormed()) refuse(what, 'a well-formed Unicode string')
    return value
  }

  function flag(value: unknown, what: string): boolean {
    if (typeof value !== 'boolean') refuse(what, 'true or false')
    return value
  }

  function integer(value: unknown, what: string, min = 0, max = Number.MAX_SAFE_INTEGER): number {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) refuse(what, 'a safe integer')
    const number = value as number
    if (number < min || number > max) refuse(what, `an integer from ${min} to ${max}`)
    return number
  }

  function uint256(value: unknown, what: string): bigint {
    const isInteger =
      typeof value === 'bigint' ||
      (typeof value === 'number' && Number.isSafeInteger(value)) ||
      (typeof value === 'string' && DECIMAL.test(value))
    if (!isInteger) refuse(what, 'an integer: a bigint, a safe number or decimal text without leading zeros')
    const integer = BigInt(value)
    if (integer < 0n || integer > maxUint256) refuse(what, 'an integer from 0 to 2^256 - 1')
    return integer
  }

  /** A uint256 that is written as decimal text, as the x402 messages and our commitments do. */
  function decimal(value: unknown, what: string): string {
    if (typeof value !== 'string') refuse(what, 'a decimal string')
    return uint256(value, what).toString()
  }

  function bytes32(value: unknown, what: string): Hex {
    if (typeof value !== 'string' || !BYTES32.test(value)) refuse(what, '0x-prefixed 32-byte hex')
    return value.toLowerCase() as Hex
  }

  function address(value: unknown, what: string): Address {
    if (typeof value !== 'string' || !isAddress(value)) {
      refuse(what, 'a 0x-prefixed 20-byte address, in lower case or with a correct checksum')
    }
    return checksumAddress(value)
  }

  return { record, text, flag, integer, uint256, decimal, bytes32, address, refuse }
}
