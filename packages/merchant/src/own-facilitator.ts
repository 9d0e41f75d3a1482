// Whether a shop settles at the market's own facilitator: that is the one which the market's manifest names.
import { readJson } from './body.ts'
import type { MarketSettings } from './config.ts'

const TIMEOUT_MS = 3_000
const MAX_BYTES = 262_144

/** True where the word of the facilitator is enough. Read once; where the manifest does not tell, the shop looks at the chain. */
export function watchOwn({ looks, setupUrl, facilitatorUrl, fetch, now, refreshMs }: MarketSettings) {
  let reading: Promise<boolean> | undefined
  let askAgainAt = 0

  async function read(): Promise<boolean> {
    try {
      const init = { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(TIMEOUT_MS) }
      const { facilitatorUrl: own } = Object(await readJson(await fetch(setupUrl, init), MAX_BYTES)) as {
        facilitatorUrl?: unknown
      }
      if (typeof own === 'string') return new URL(own).href.replace(/\/+$/, '') === facilitatorUrl
    } catch {
      // It is asked again later.
    }
    askAgainAt = now() + refreshMs
    return false
  }

  return async (): Promise<boolean> => {
    if (looks !== undefined) return !looks
    if (!reading || (askAgainAt > 0 && askAgainAt <= now())) {
      askAgainAt = 0
      reading = read()
    }
    return reading
  }
}
