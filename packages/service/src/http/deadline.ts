/** The answer to a query, or an error when there is none in time; a query that nobody waits for is taken back. */
export async function answerWithin<T>(ms: number, query: Promise<T> & { cancel(): void }): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      query.cancel()
      reject(new Error(`no answer within ${ms} ms`))
    }, ms)
  })
  try {
    return await Promise.race([query, timeout])
  } finally {
    clearTimeout(timer)
  }
}
