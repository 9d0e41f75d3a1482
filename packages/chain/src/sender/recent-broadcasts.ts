import type { Hex } from 'viem'
import type { RpcEndpoint } from '../rpc/index.ts'

/** Transactions that were sent to a node within the last second. */
export interface RecentBroadcasts {
  add(endpoint: RpcEndpoint, hash: Hex): void
  has(endpoint: RpcEndpoint, hash: Hex): boolean
}

/** A node that just took a transaction is not asked whether it still has it: the answer would be as long as the transaction. */
const FRESH_MS = 1_000

export function createRecentBroadcasts(): RecentBroadcasts {
  const times = new Map<string, number>()
  const nameOf = ({ name }: RpcEndpoint, hash: Hex) => `${name} ${hash}`
  const isOld = (time: number) => performance.now() - time >= FRESH_MS
  return {
    add(endpoint, hash) {
      for (const [name, time] of times) if (isOld(time)) times.delete(name)
      times.set(nameOf(endpoint, hash), performance.now())
    },
    has(endpoint, hash) {
      const time = times.get(nameOf(endpoint, hash))
      return time !== undefined && !isOld(time)
    },
  }
}
