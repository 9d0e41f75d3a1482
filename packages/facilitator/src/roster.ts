// Who of the relayers can settle now. One may lack the role, or gas, while the others go on.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from 'viem'
import type { Chain, Roster } from './context.ts'
import { isSettler } from './relayers.ts'

const SPARED_FOR_MS = 30_000
const LOOK_EVERY_MS = 5_000

export function createRoster(chain: Pick<Chain, 'rpc' | 'contracts' | 'relayers'>): Roster {
  const all = chain.relayers.map(({ address }) => address) as [Address, ...Address[]]
  const sparedUntil = new Map<Address, number>()
  let roleless = new Set<Address>()

  async function lookAtRoles(): Promise<void> {
    const settle = await Promise.all(all.map((address) => isSettler(chain, address)))
    roleless = new Set(all.filter((_, at) => !settle[at]))
  }

  return {
    able() {
      const now = performance.now()
      const allowed = all.filter((address) => !roleless.has(address))
      const rested = allowed.filter((address) => (sparedUntil.get(address) ?? 0) <= now)
      // Gas may have come by now; without the role nothing can be tried.
      const [first, ...others] = rested.length > 0 ? rested : allowed
      return first ? [first, ...others] : all
    },
    spare(relayer) {
      sparedUntil.set(relayer, performance.now() + SPARED_FOR_MS)
    },
    async run(signal) {
      while (!signal.aborted) {
        // A node that does not answer says nothing about roles: what was known holds.
        await lookAtRoles().catch(() => {})
        await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
      }
    },
  }
}
