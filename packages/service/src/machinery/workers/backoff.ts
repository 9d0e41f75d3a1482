export interface Backoff {
  firstMs: number
  maxMs: number
}

/** Doubles from attempt to attempt; a random half is taken off, so that those who failed together do not return together. */
export function backoffMs(attempt: number, { firstMs, maxMs }: Backoff, random: () => number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 40))
  return Math.round(full * (0.5 + random() / 2))
}
