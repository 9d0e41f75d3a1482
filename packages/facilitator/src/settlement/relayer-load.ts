// Which relayer has the fewest transactions under way.
import type { Address } from 'viem'
import type { Chain } from '../context.ts'
import type { Tracker } from './tracker.ts'

export interface RelayerLoad {
  leastBusy(): { relayer: Address; transactions: number }
  /** How many transactions a relayer has under way. */
  of(relayer: Address): number
  /** Counts a transaction that the tracker does not follow yet, until the function is called that it returns. */
  begin(relayer: Address): () => void
}

export function createRelayerLoad({ relayerPool }: Chain, tracker: Tracker): RelayerLoad {
  const begun = new Map<Address, number>()
  const add = (relayer: Address, change: 1 | -1) => begun.set(relayer, (begun.get(relayer) ?? 0) + change)
  const of = (relayer: Address) => tracker.waiting(relayer) + (begun.get(relayer) ?? 0)
  return {
    of,
    leastBusy() {
      const able = relayerPool.available().map((relayer) => ({ relayer, transactions: of(relayer) }))
      return able.reduce((least, each) => (each.transactions < least.transactions ? each : least))
    },
    begin(relayer) {
      add(relayer, 1)
      return () => add(relayer, -1)
    },
  }
}
