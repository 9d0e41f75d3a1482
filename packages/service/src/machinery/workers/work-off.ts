import { setTimeout as sleep } from 'node:timers/promises'

/** How often more is looked for while some is at work. */
const POLL_MS = 500
/** After something failed, a run begins nothing more after this time; the next run tries it again. */
const LATE_AFTER_MS = 60_000

/**
 * Works off what is due, until nothing is: `begin` starts what it finds, and is called again while that is at work, so that nothing waits
 * for the slowest. What fails does not stop the others; the first error is thrown at the end. Returns how many works were started.
 */
export async function workOff(
  begin: (start: (work: Promise<unknown>) => void) => Promise<void>,
  signal: AbortSignal,
): Promise<number> {
  const since = performance.now()
  const atWork = new Set<Promise<unknown>>()
  const errors: unknown[] = []
  let started = 0
  const start = (work: Promise<unknown>) => {
    started += 1
    const done = work.catch((error) => errors.push(error)).finally(() => atWork.delete(done))
    atWork.add(done)
  }
  try {
    for (;;) {
      signal.throwIfAborted()
      const before = started
      const isLate = errors.length > 0 && performance.now() - since > LATE_AFTER_MS
      if (!isLate) await begin(start)
      if (atWork.size === 0 && started === before) break
      const waiting = new AbortController()
      const poll = sleep(POLL_MS, undefined, { signal: waiting.signal }).catch(() => {})
      // Until all of it is done, or until it is time to look for more.
      await Promise.race([Promise.all(atWork), poll])
      waiting.abort()
    }
  } finally {
    await Promise.all(atWork)
  }
  if (errors.length > 0) throw errors[0]
  return started
}
