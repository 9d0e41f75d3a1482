// The arithmetic of a token bucket. The store does the same in SQL, operation by operation, so that both give the same answers.
export interface Rate {
  /** Tokens that come back in a second. */
  perSecond: number
  /** The most tokens that there are; a whole number. */
  burst: number
}

/** The answer of a bucket. */
export interface Taken {
  granted: number
  /** If fewer tokens were granted than wanted: seconds until the next one is there; else 0. */
  waitSeconds: number
}

/** Times are milliseconds. */
export interface Bucket {
  /** When it is full again. */
  fullAt: number
  /** When it was last asked. */
  takenAt: number
}

/** Doubles of today's times are a quarter of a microsecond apart, so that a token may seem to be missing by that much. */
export const ROUNDING_MS = 0.001

export const stepMsOf = ({ perSecond }: Rate): number => 1_000 / perSecond

export const FULL: Bucket = { fullAt: 0, takenAt: 0 }

/** Takes up to `wanted` tokens. While the clock goes back, no time passes for the bucket. */
export function takeFrom(
  { fullAt, takenAt }: Bucket,
  at: number,
  rate: Rate,
  wanted: number,
): Bucket & { granted: number } {
  const stepMs = stepMsOf(rate)
  const refillMs = rate.burst * stepMs
  const missingMs = Math.min(Math.max(fullAt - Math.max(at, takenAt), 0), refillMs)
  const granted = Math.min(wanted, rate.burst, Math.floor((refillMs - missingMs + ROUNDING_MS) / stepMs))
  return { fullAt: at + missingMs + granted * stepMs, takenAt: at, granted }
}

export function takenOf(
  { fullAt, takenAt, granted }: Bucket & { granted: number },
  rate: Rate,
  wanted: number,
): Taken {
  if (granted >= wanted) return { granted, waitSeconds: 0 }
  const stepMs = stepMsOf(rate)
  return { granted, waitSeconds: (stepMs - (takenAt + rate.burst * stepMs - fullAt)) / 1_000 }
}
