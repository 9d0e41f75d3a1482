/**
 * Returns what `read` told last, and never waits for it: when that is older than `maxAgeMs`, it is read again in the background.
 * Not known before the first answer and after a failure, because an old answer would hide the failure; then it is read again at the
 * next call.
 */
export function readInBackground<T>(
  maxAgeMs: number,
  read: () => Promise<T>,
  onFailure: (error: unknown) => void,
): () => { value: T } | { failed: boolean } {
  let known: { value: T } | { failed: boolean } = { failed: false }
  let isReading = false
  let readAt = Number.NEGATIVE_INFINITY

  async function readNow(): Promise<void> {
    isReading = true
    try {
      known = { value: await read() }
      readAt = performance.now()
    } catch (error) {
      known = { failed: true }
      readAt = Number.NEGATIVE_INFINITY
      onFailure(error)
    } finally {
      isReading = false
    }
  }

  return () => {
    if (!isReading && performance.now() - readAt >= maxAgeMs) void readNow()
    return known
  }
}
