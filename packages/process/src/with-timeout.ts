/**
 * Returns the result of `work` when it ends within `ms`, else the result of `onTimeout` (undefined without one); `onTimeout` may throw.
 * The work is not cancelled: it goes on, and its later result or failure is ignored.
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
