import { Worker as Thread } from 'node:worker_threads'
import { type Dealings, type Ring, ringsIn } from '@referrer/ranking'

/** With more rows of votes it runs in a thread of its own: it takes some milliseconds for a thousand. */
const ROWS_IN_LINE = 20_000

/** Finds the rings without holding up the event loop for long. */
export const findRings = (dealings: Dealings, signal: AbortSignal): Promise<Ring[]> =>
  dealings.votes.count.length <= ROWS_IN_LINE
    ? Promise.resolve(ringsIn(dealings))
    : findInThread(dealings, signal)

/** The columns go to the thread and are empty here afterwards. */
export async function findInThread(dealings: Dealings, signal: AbortSignal): Promise<Ring[]> {
  signal.throwIfAborted()
  const { owners, votes, spending } = dealings
  const columns = [owners, votes, spending].flatMap((part) => Object.values<Int32Array | Float64Array>(part))
  const thread = new Thread(new URL('./thread.ts', import.meta.url), {
    workerData: dealings,
    transferList: columns.map(({ buffer }) => buffer as ArrayBuffer),
  })
  const { promise, resolve, reject } = Promise.withResolvers<Ring[]>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop)
  thread.once('message', resolve)
  thread.once('error', reject)
  thread.once('exit', () => reject(new Error('the thread that looks for rings ended without an answer')))
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', stop)
    await thread.terminate()
  }
}
