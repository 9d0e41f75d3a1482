import type { Metrics } from './metrics.ts'

/** Requests about payments that have begun and not ended, whether or not their callers still wait. */
export interface RequestsInProgress {
  /** Call what it returns when the request has ended. */
  begin(route: string): () => void
  /** Resolves when there are none. */
  over(): Promise<void>
}

export function createRequestsInProgress(metrics: Metrics): RequestsInProgress {
  let count = 0
  const waiting: (() => void)[] = []
  return {
    begin(route) {
      count += 1
      const end = metrics.begin(route)
      return () => {
        end()
        count -= 1
        if (count === 0) for (const go of waiting.splice(0)) go()
      }
    },
    over: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
