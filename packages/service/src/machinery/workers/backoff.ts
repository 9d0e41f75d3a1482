export interface Backoff {
  firstMs: number
  maxMs: number
}

/** Exponential backoff with jitter: up to half of the delay is taken off at random, so that those who failed together do not retry together. */
export function backoffMs(attempt: number, { firstMs, maxMs }: Backoff, random: () => number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 40))
  return Math.round(full * (0.5 + random() / 2))
}
