/**
 * A question to something that may be silent. However many ask, one is under way at a time; each asker waits for
 * its answer no longer than `patienceMs`.
 */
export function sharedQuestion<T>(patienceMs: number, ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined
  return async () => {
    asked ??= ask().finally(() => {
      asked = undefined
    })
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${patienceMs} ms`)), patienceMs)
    })
    try {
      return await Promise.race([asked, silence])
    } finally {
      clearTimeout(timer)
    }
  }
}
