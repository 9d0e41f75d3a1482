import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from '../../http/servers.ts'
import { memoryOf } from '../service.ts'

/** In bytes. */
export type Sample = { resident: number; heap: number }

export async function watch(server: Server, seconds: number): Promise<Sample[]> {
  const samples: Sample[] = []
  const end = performance.now() + seconds * 1_000
  while (performance.now() < end) {
    samples.push(await memoryOf(server))
    await sleep(500)
  }
  return samples
}

/** From the first third to the last, by the least of each: in between is what has not been collected yet. */
export function growthOf(samples: readonly Sample[], what: keyof Sample): number {
  const third = Math.floor(samples.length / 3)
  const least = (some: readonly Sample[]) => Math.min(...some.map((sample) => sample[what]))
  return least(samples.slice(-third)) - least(samples.slice(0, third))
}
