import { withTimeout } from './with-timeout.ts'

/**
 * Coalesces calls of `ask`, which may hang: at most one runs at a time, and callers that come meanwhile share its answer. Each caller
 * waits at most `timeoutMs`.
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
