import { setTimeout as sleep } from 'node:timers/promises'
import type { Frame, Worker } from './frame.ts'

/** Polls until `look` returns something true. */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string,
  ms = 50_000,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + ms
  for (;;) {
    const seen = await look()
    if (seen) return seen
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms in vain for ${what}`)
    await sleep(10)
  }
}

/** Runs a worker by itself; the test fires the signals that `startWorkers` would. */
export function runAlone(worker: Worker): { stop(): Promise<void>; abort(): Promise<void> } {
  const stop = new AbortController()
  const abort = new AbortController()
  const frame: Frame = { abort: abort.signal, failing() {}, working() {} }
  const done = worker.run(stop.signal, frame)
  return {
    stop() {
      stop.abort()
      return done
    },
    abort() {
      stop.abort()
      abort.abort(new Error('the test says so'))
      return done
    },
  }
}
