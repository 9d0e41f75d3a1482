// What is killed, and when.
import { setTimeout as sleep } from 'node:timers/promises'
import { progress } from '../stage.ts'
import type { Member } from './members.ts'

export interface Faults {
  kills: { name: string; atSeconds: number }[]
  failOvers: { atSeconds: number; seconds: number }[]
}

/** A primary and a standby that takes over. */
export interface DatabasePair {
  /** Kills the primary, promotes the standby, and makes a standby of what is left. Resolves when writes are taken again. */
  failOver(): Promise<void>
}

const LEAST_PAUSE_MS = 3_000
const PAUSE_MS = 4_000

/** Kills members at random for so long; the primary at two thirds of it. */
export async function inject(
  members: readonly Member[],
  pair: DatabasePair,
  { seconds, random }: { seconds: number; random: () => number },
): Promise<Faults> {
  const faults: Faults = { kills: [], failOvers: [] }
  const start = performance.now()
  const elapsed = () => (performance.now() - start) / 1_000
  let failingOver: Promise<void> | undefined

  async function failOver(): Promise<void> {
    const atSeconds = elapsed()
    progress('the primary is killed, the standby takes over')
    await pair.failOver()
    faults.failOvers.push({ atSeconds, seconds: elapsed() - atSeconds })
  }

  while (elapsed() < seconds) {
    await sleep(LEAST_PAUSE_MS + random() * PAUSE_MS)
    if (!failingOver && elapsed() > (seconds * 2) / 3) failingOver = failOver()
    const member = members[Math.floor(random() * members.length)] as Member
    member.kill()
    faults.kills.push({ name: member.name, atSeconds: elapsed() })
    progress(`${member.name} is killed`)
  }
  await failingOver
  return faults
}
