import type { Hex } from 'viem'

/** Hex as Postgres keeps it. */
export const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex')
