// Computes standings: those of a small market at once, those of a large one in a thread, so that requests are answered meanwhile.
import { Worker } from 'node:worker_threads'
import { type Spending, type Standing, standingOf } from '@referrer/ranking'

/** So many entries take about 30 ms. */
const FEW_ENTRIES = 100_000
const LONGEST_MS = 600_000

export interface WalkOptions {
  /** With more entries a thread computes. */
  few?: number
  longestMs?: number
}

/** Where a thread computes, the arrays go there and are empty afterwards. */
export const walk = async (
  spending: Spending,
  { few = FEW_ENTRIES, longestMs = LONGEST_MS }: WalkOptions = {},
): Promise<Standing> =>
  spending.shop.length <= few ? standingOf(spending) : walkInThread(spending, longestMs)

function walkInThread(spending: Spending, longestMs: number): Promise<Standing> {
  const { promise, resolve, reject } = Promise.withResolvers<Standing>()
  const thread = new Worker(new URL('./walk-thread.ts', import.meta.url), {
    workerData: spending,
    transferList: Object.values(spending).map((numbers) => numbers.buffer),
    name: 'standing',
    execArgv: [],
    env: {},
  })
  // A service that stops does not wait for it.
  thread.unref()
  const timer = setTimeout(() => {
    reject(new Error(`the standings took longer than ${longestMs / 1_000} s`))
    void thread.terminate()
  }, longestMs).unref()
  thread.once('message', resolve)
  thread.once('error', reject)
  thread.once('exit', (code) => {
    clearTimeout(timer)
    reject(new Error(`the thread of the standings ended with exit code ${code}`))
  })
  return promise
}
