import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../../kit/context.ts'
import type { Worker } from '../../machinery/workers/frame.ts'
import { type Pauses, sendDue } from './send.ts'

const POLL_MS = 1_000

/** Sends what is due. Replicas share the notices; a look that finds nothing reads one entry of an index. */
export const noticesWorker = (context: Context): Worker => ({
  name: 'notices',
  async run(signal, frame) {
    const pauses: Pauses = new Map()
    const aborted = new Promise<number>((resolve) => {
      frame.abort.addEventListener('abort', () => resolve(0), { once: true })
    })
    while (!signal.aborted) {
      let claimed = 0
      try {
        // At the end of the drain nobody waits for a messenger any more: the next claim finds the message on its way.
        claimed = await Promise.race([sendDue(context, pauses), aborted])
        frame.working()
      } catch (error) {
        frame.failing(error)
      }
      if (claimed === 0) await sleep(POLL_MS, undefined, { signal }).catch(() => {})
    }
  },
})
