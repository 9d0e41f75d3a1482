// What the market's look at an endpoint means, and what to do about it.
export type CheckName = 'reachable' | 'returns_402' | 'payto_is_splitrouter' | 'echoes_attribution'

interface Meaning {
  title: string
  /** What it means when it fails, and how to mend it. */
  mend: string
}

export const CHECKS: Record<CheckName, Meaning> = {
  reachable: {
    title: 'The market reaches your endpoint',
    mend: 'Nothing answered within five seconds. Start your server, check the address, and let requests from the internet in. A redirect does not count: give the final address.',
  },
  returns_402: {
    title: 'It asks for payment',
    mend: 'A request without payment must get status 402. Check that the path is the one of your handler, and that GET reaches it, not a page or a login before it.',
  },
  payto_is_splitrouter: {
    title: 'It has the payment split',
    mend: 'The offer must be payable to the address below, which pays you, the reviewer and the fee in one transaction. The library reads it by itself: check addressRegistry and chainId. Without the library, read it from the address registry.',
  },
  echoes_attribution: {
    title: 'It remembers which review sent the buyer',
    mend: 'The offer must repeat the header X-Referrer-Token as extensions.attributionToken. The library does it. If a proxy stands before your server, let that header through.',
  },
}

/** All checks in the order in which they are made: those that were not reached are undefined. */
export function checklist(
  checks: readonly { name: CheckName; ok: boolean; detail?: string | undefined }[],
): { name: CheckName; ok: boolean | undefined; detail: string | undefined }[] {
  const isReached = checks.length > 0 && !checks.some(({ name, ok }) => name === 'reachable' && !ok)
  return (Object.keys(CHECKS) as CheckName[]).map((name) => {
    const check = checks.find((one) => one.name === name)
    const known = name === 'reachable' && isReached ? true : undefined
    return { name, ok: check?.ok ?? known, detail: check?.detail }
  })
}
