import type { Hex } from 'viem'

/** Hex as the bytes of a bytea. */
export const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex')
