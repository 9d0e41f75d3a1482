import { largest, smallest } from '../bigint.ts'

export interface Fees {
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** The usual quote: the base fee may double while the transaction waits. */
export function quote(baseFee: bigint, tip: bigint, cap: bigint): Fees {
  const maxFeePerGas = smallest(baseFee * 2n + tip, cap)
  return { maxFeePerGas, maxPriorityFeePerGas: smallest(tip, maxFeePerGas) }
}

/** A quarter more than before, or the market fee if higher; undefined when the cap leaves less than nodes require for a replacement. */
export function raise(last: Fees, market: Fees, cap: bigint): Fees | undefined {
  const maxFeePerGas = smallest(largest(quarterMore(last.maxFeePerGas), market.maxFeePerGas), cap)
  const wanted = largest(quarterMore(last.maxPriorityFeePerGas), market.maxPriorityFeePerGas)
  const maxPriorityFeePerGas = smallest(wanted, maxFeePerGas)
  const isEnough =
    maxFeePerGas >= leastReplacement(last.maxFeePerGas) &&
    maxPriorityFeePerGas >= leastReplacement(last.maxPriorityFeePerGas)
  return isEnough ? { maxFeePerGas, maxPriorityFeePerGas } : undefined
}

const quarterMore = (fee: bigint) => largest((fee * 5n + 3n) / 4n, fee + 1n)
/** Most nodes require a tenth more for a replacement, some an eighth, in both fees. */
const leastReplacement = (fee: bigint) => largest((fee * 9n + 7n) / 8n, fee + 1n)
