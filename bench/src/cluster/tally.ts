/** What the callers of one kind met. */
export interface Tally {
  done: number
  /** Of these, how many did not succeed with the first request. */
  repeated: number
  /** Requests that failed, by the reason. */
  failures: Map<string, number>
  /** From the first request to the answer that counts, in milliseconds. */
  waits: number[]
  /** Answers that no repetition changed. */
  lost: string[]
}

export const createTally = (): Tally => ({ done: 0, repeated: 0, failures: new Map(), waits: [], lost: [] })

/** What a repetition may change: nobody answered, or the answer says to try again. */
export class Retryable extends Error {}

/** Repeats the work until it succeeds, and counts. A failure that is not `Retryable` is lost. Returns undefined then, or after the end. */
export async function untilDone<T>(
  tally: Tally,
  work: () => Promise<T>,
  { giveUpMs, pauseMs = 250 }: { giveUpMs: number; pauseMs?: number },
): Promise<T | undefined> {
  const start = performance.now()
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await work()
      tally.done += 1
      if (attempt > 1) tally.repeated += 1
      tally.waits.push(performance.now() - start)
      return result
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      tally.failures.set(reason, (tally.failures.get(reason) ?? 0) + 1)
      if (!(error instanceof Retryable) || performance.now() - start > giveUpMs) {
        tally.lost.push(reason)
        return undefined
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
