import type { Address } from 'viem'
import { reader } from '../read.ts'

export type VerifyResponse = {
  isValid: boolean
  invalidReason?: string
  invalidMessage?: string
  payer?: Address
}

const read = reader('invalid_payment')

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const answer: X402.VerifyResponse.VerifyResponse = X402.VerifyResponse.parse({ isValid: true })
 * answer // → { isValid: true }
 * ```
 */
export function parse(value: unknown): VerifyResponse {
  const { isValid, invalidReason, invalidMessage, payer } = read.record(value, 'verify response')
  return {
    isValid: read.flag(isValid, 'isValid'),
    ...(invalidReason === undefined ? {} : { invalidReason: read.text(invalidReason, 'invalidReason') }),
    ...(invalidMessage === undefined ? {} : { invalidMessage: read.text(invalidMessage, 'invalidMessage') }),
    ...(payer === undefined ? {} : { payer: read.address(payer, 'payer') }),
  }
}
