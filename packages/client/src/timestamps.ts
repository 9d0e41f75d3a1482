import { sleep } from './retries.ts'

/** How far a timestamp may be ahead of our clock. The market allows a minute, and our clock may be ahead of its. */
const MOST_AHEAD_SECONDS = 30

/** The last timestamp of each request that an account signed in this second or for a later one. */
const signedBy = new WeakMap<object, Map<string, number>>()

/**
 * The timestamp to sign a request with, in unix seconds. Signatures are deterministic, and the market accepts one only once: so a request
 * that an account has already signed in this second gets the next one, whichever client of this process sends it.
 */
export async function nextTimestamp(signer: object, request: string, now: () => number): Promise<number> {
  const signed = signedBy.get(signer) ?? new Map<string, number>()
  signedBy.set(signer, signed)
  for (;;) {
    const present = Math.floor(now() / 1_000)
    const latest = present + MOST_AHEAD_SECONDS
    for (const [known, timestamp] of signed) {
      // One that is too far ahead was signed before our clock was set back.
      if (timestamp < present || timestamp > latest) signed.delete(known)
    }
    const timestamp = Math.max(present, (signed.get(request) ?? 0) + 1)
    if (timestamp <= latest) {
      signed.set(request, timestamp)
      return timestamp
    }
    await sleep(1_000 - (now() % 1_000), undefined)
  }
}
