/**
 * What comes of the work when it ends within `ms`; otherwise what `onTimeout` gives, which is undefined without one. An `onTimeout` that throws
 * rejects. The work goes on all the same, and nobody hears how it ends.
 */
export async function withTimeout<T, L = undefined>(
  ms: number,
  work: Promise<T>,
  onTimeout?: () => L | Promise<L>,
): Promise<T | L> {
  const timeout = Promise.withResolvers<void>()
  const timer = setTimeout(timeout.resolve, ms)
  try {
    return await Promise.race([work, timeout.promise.then(onTimeout) as Promise<L>])
  } finally {
    clearTimeout(timer)
  }
}
