import { withTimeout } from './with-timeout.ts'

/**
 * A question to something that may be silent. However many ask, one is under way at a time; each asker waits for
 * its answer no longer than `timeoutMs`.
 */
export function sharedQuestion<T>(timeoutMs: number, ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined
    })
    return withTimeout(timeoutMs, asked, () => {
      throw new Error(`no answer within ${timeoutMs} ms`)
    })
  }
}
