import { setTimeout as sleep } from 'node:timers/promises'

/** Reads again and again until it is as wanted; a minute at most. */
export async function waitFor<T>(what: string, read: () => Promise<T>, isWanted: (value: T) => boolean) {
  const deadline = Date.now() + 60_000
  for (;;) {
    const value = await read()
    if (isWanted(value)) return value
    if (Date.now() > deadline) throw new Error(`waited a minute for ${what}: is the sandbox still running?`)
    await sleep(250)
  }
}
