import { createTurns, siteOf } from '@referrer/net'
import type { Chain, Context } from '../../kit/context.ts'
import { Bell } from '../../machinery/workers/bell.ts'
import type { Worker } from '../../machinery/workers/frame.ts'
import { type Claimed, putOff } from '../../market/webhooks/deliveries.ts'
import { announce } from './announce.ts'
import { claim, sendTo } from './send.ts'

const POLL_MS = 1_000
/** So many webhooks get messages at the same time from one process. Each has a turn of its own, so a slow one holds up nobody else. */
const AT_ONCE = 32
/** Of these, webhooks whose hosts belong together: the others are put off, because who has many slow ones must not take all turns. */
const OF_SITE = 8
const PUT_OFF_MS = 5_000

/** Makes messages of confirmed changes and sends what is due. Replicas share the webhooks. */
export const webhooksWorker = (context: Context): Worker => ({
  name: 'webhooks',
  async run(signal, frame) {
    const bell = new Bell()
    const turns = new Set<Promise<void>>()
    const inTurns = createTurns(AT_ONCE, { site: OF_SITE })
    const aborted = new Promise<void>((resolve) => {
      frame.abort.addEventListener('abort', () => resolve(), { once: true })
    })
    const start = (claimed: Claimed, site: string) => {
      const turn = inTurns(() => sendTo(context, claimed), { site })
        .catch((error: unknown) => frame.failing(error))
        .finally(() => {
          turns.delete(turn)
          bell.ring()
        })
      turns.add(turn)
    }
    // Where each chain's queue is read on. A batch at a time, so that what is due to be sent does not wait for long queues.
    const after = new Map<Chain, bigint>()
    // Others may be due behind those who were put off.
    let isCrowded = false
    while (!signal.aborted) {
      try {
        for (const chain of context.chains.values()) {
          const last = await announce(context, chain, after.get(chain))
          if (last === undefined) after.delete(chain)
          else after.set(chain, last)
        }
        const claimed = inTurns.free() > 0 ? await claim(context, inTurns.free()) : []
        const crowded: Claimed[] = []
        for (const one of claimed) {
          const site = siteOf(new URL(one.url))
          if (inTurns.hasRoom({ site })) start(one, site)
          else crowded.push(one)
        }
        isCrowded = crowded.length > 0
        if (isCrowded) await putOff(context.sql, crowded, new Date(context.clock() + PUT_OFF_MS))
        frame.working()
      } catch (error) {
        after.clear()
        isCrowded = false
        frame.failing(error)
      }
      if (after.size === 0 && !isCrowded) await bell.wait(POLL_MS, signal)
    }
    // At the end of the drain nobody waits for an endpoint any more: when the lease has ended, the message is sent again.
    await Promise.race([Promise.all(turns), aborted])
  },
})
