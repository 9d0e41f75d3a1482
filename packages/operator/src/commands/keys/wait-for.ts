import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 500

/** Whether the condition came true within the time; a dry run looks once. */
export async function waitFor(
  { isDryRun, waitMs }: { isDryRun: boolean; waitMs: number },
  holds: () => Promise<boolean>,
): Promise<boolean> {
  const until = performance.now() + (isDryRun ? 0 : waitMs)
  while (!(await holds())) {
    if (performance.now() >= until) return false
    await sleep(POLL_MS)
  }
  return true
}
