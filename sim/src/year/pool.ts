// Runs years in parallel, one in each worker thread at a time.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Figures } from './figures.ts'
import type { RingStyle, Scale } from './world.ts'

export type Year = {
  seed: number
  style: RingStyle
  scale: Scale
  verified: number
  isIgnored: boolean
  /** The name of a design of `designs.ts`. */
  design?: string
}

export async function runYears(
  years: readonly Year[],
  onDone: (done: number) => void,
): Promise<(Figures & { year: Year })[]> {
  const results: (Figures & { year: Year })[] = []
  let [next, done] = [0, 0]
  const work = async () => {
    for (let at = next++; at < years.length; at = next++) {
      const year = years[at] as Year
      results[at] = { ...(await inThread(year)), year }
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), years.length) }, work))
  return results
}

const inThread = (year: Year) =>
  new Promise<Figures>((resolve, reject) => {
    const worker = new Worker(new URL('./pool-thread.ts', import.meta.url), { workerData: year })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
