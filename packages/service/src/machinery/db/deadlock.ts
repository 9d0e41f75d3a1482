const DEADLOCK = '40P01'

/** Retries the work once when Postgres ended it because of a deadlock: the other transaction has ended by then. */
export async function despiteDeadlock<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ((error as { code?: unknown }).code !== DEADLOCK) throw error
    return work()
  }
}
