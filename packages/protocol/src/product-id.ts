import type { Hex } from 'viem'
import { ProtocolError } from './error.ts'

/** 32 bytes, always `0x` and lower case once parsed. */
export type ProductId = Hex

const THIRTY_TWO_BYTES = /^(?:0x)?([0-9a-fA-F]{64})$/

/**
 * @example
 * ```ts
 * import { ProductId } from '@referrer/protocol'
 *
 * const productId: ProductId.ProductId = ProductId.parse('AB'.repeat(32))
 * productId // → `0x${'ab'.repeat(32)}`
 * ```
 */
export function parse(value: unknown): ProductId {
  const digits = typeof value === 'string' ? THIRTY_TWO_BYTES.exec(value)?.[1] : undefined
  if (digits === undefined) {
    throw new ProtocolError('invalid_product_id', 'product id must be 32-byte hex; the 0x prefix is optional')
  }
  return `0x${digits.toLowerCase()}`
}
