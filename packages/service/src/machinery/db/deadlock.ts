const DEADLOCK = '40P01'

/** Does it once more when the database ended it because two waited for each other; the other one is done then. */
export async function despiteDeadlock<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ((error as { code?: unknown }).code !== DEADLOCK) throw error
    return work()
  }
}
