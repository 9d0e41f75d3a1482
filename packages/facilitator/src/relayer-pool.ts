// Which relayers can settle now. One may lack the role, or gas, while the others go on.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from 'viem'
import type { Chain, RelayerPool } from './context.ts'
import { isSettler } from './relayers.ts'

const SUSPENDED_FOR_MS = 30_000
const READ_ROLES_EVERY_MS = 5_000

export function createRelayerPool(chain: Pick<Chain, 'rpc' | 'contracts' | 'relayers'>): RelayerPool {
  const all = chain.relayers.map(({ address }) => address) as [Address, ...Address[]]
  const suspendedUntil = new Map<Address, number>()
  let roleless = new Set<Address>()

  async function readRoles(): Promise<void> {
    const settle = await Promise.all(all.map((address) => isSettler(chain, address)))
    roleless = new Set(all.filter((_, at) => !settle[at]))
  }

  return {
    available() {
      const now = performance.now()
      const allowed = all.filter((address) => !roleless.has(address))
      const active = allowed.filter((address) => (suspendedUntil.get(address) ?? 0) <= now)
      // A suspended relayer may have gas by now; without the role none can even try a payment out.
      const [first, ...others] = active.length > 0 ? active : allowed
      return first ? [first, ...others] : all
    },
    suspend(relayer) {
      suspendedUntil.set(relayer, performance.now() + SUSPENDED_FOR_MS)
    },
    async run(signal) {
      while (!signal.aborted) {
        // If no node answers, the roles read last hold.
        await readRoles().catch(() => {})
        await sleep(READ_ROLES_EVERY_MS, undefined, { signal }).catch(() => {})
      }
    },
  }
}
