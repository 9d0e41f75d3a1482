import { largest, smallest } from '../bigint.ts'

export interface Fees {
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** What nodes quote: room for the base fee to double while the transaction waits. */
export function quote(baseFee: bigint, tip: bigint, cap: bigint): Fees {
  const maxFeePerGas = smallest(baseFee * 2n + tip, cap)
  return { maxFeePerGas, maxPriorityFeePerGas: smallest(tip, maxFeePerGas) }
}

/** A quarter more than last time, or what the market asks now; nothing when the cap leaves too little for nodes to take it. */
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
/** Most nodes want a tenth more, some an eighth, in both fees. */
const leastReplacement = (fee: bigint) => largest((fee * 9n + 7n) / 8n, fee + 1n)
