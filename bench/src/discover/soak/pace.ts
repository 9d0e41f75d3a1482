import { setTimeout as sleep } from 'node:timers/promises'

export interface Outcome {
  done: number
  /** What went wrong, each time. */
  failed: string[]
  p50Ms: number
  p99Ms: number
  worstMs: number
}

/** Begins so many a second, whether those before have ended or not; each is timed from when it was due. */
export async function pace(
  perSecond: number,
  seconds: number,
  work: () => Promise<unknown>,
): Promise<Outcome> {
  const begun = performance.now()
  const took: number[] = []
  const failed: string[] = []
  const under: Promise<void>[] = []
  for (let n = 0; n < perSecond * seconds; n += 1) {
    const due = begun + (n * 1_000) / perSecond
    const early = due - performance.now()
    if (early > 0) await sleep(early)
    under.push(
      work().then(
        () => void took.push(performance.now() - due),
        (error: unknown) => void failed.push(String(error)),
      ),
    )
  }
  await Promise.all(under)
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.ceil(took.length * share) - 1] ?? Number.NaN
  return { done: took.length, failed, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1) }
}
