import type { Member } from './members.ts'
import { Retryable } from './tally.ts'

const REQUEST_MS = 60_000

/** Where a request is sent, as a proxy without health checks does it: one after the other; who refuses the connection is passed over. */
export function balance(members: readonly Member[]): typeof fetch {
  let next = 0
  return async (input, init) => {
    const { pathname, search } = new URL(String(input))
    let reason = 'nobody took the connection'
    const first = next++
    for (let tries = 0; tries < members.length; tries += 1) {
      const { url } = members[(first + tries) % members.length] as Member
      try {
        const signal = AbortSignal.any([
          AbortSignal.timeout(REQUEST_MS),
          ...(init?.signal ? [init.signal] : []),
        ])
        return await fetch(`${url}${pathname}${search}`, { ...init, signal })
      } catch (error) {
        const cause = ((error as Error).cause ?? error) as NodeJS.ErrnoException
        // Nothing was sent: another one may be asked, whatever the request does.
        if (cause.code === 'ECONNREFUSED') continue
        reason = `the connection broke (${cause.code ?? cause.name})`
        break
      }
    }
    throw new Retryable(reason)
  }
}
