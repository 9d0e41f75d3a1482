import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createLoader } from '../loader.ts'
import type { Rate, Taken } from './bucket.ts'
import type { Question, Store } from './store.ts'

/** How often a store that did not answer is tried again, and how long a try may take: a connection may have to be opened. */
const RETRY_MS = 500
const TRY_MS = 5_000

interface Pending {
  key: string
  rate: Rate
  /** Tokens that the takes want which wait for this answer. */
  waiting: number
  /** Tokens beyond those, for takes to come. */
  ahead: number
}

/** An answer for one of the takes that asked together. */
export interface Answer extends Taken {
  /** How many tokens those want that came before it: the first ones get the tokens. */
  place: number
  /** Tokens that are left for takes to come. */
  left: number
}

export interface Asking {
  isUp(): boolean
  /** Undefined: the store did not answer. It never rejects. */
  ask(key: string, rate: Rate, cost: number, ahead: number): Promise<Answer | undefined>
  close(): Promise<void>
}

export interface AskingOptions {
  timeoutMs: number
  log: Logger
}

/**
 * Asks the store for all takes that wait in this process with one message at a time. A store that fails or is slow is not asked again until
 * it has answered a try in the background.
 */
export async function createAsking(store: Store, { timeoutMs, log }: AskingOptions): Promise<Asking> {
  const closing = new AbortController()
  const pending = new Map<string, Pending>()
  let isUp = true

  const load = createLoader<Pending, Taken | undefined>({
    keyOf: ({ key }) => key,
    load: async (asked) => {
      for (const { key } of asked) pending.delete(key)
      const questions = asked.map(({ key, rate, waiting, ahead }) => ({ key, rate, wanted: waiting + ahead }))
      const answers = isUp ? await inTime(timeoutMs, questions) : undefined
      return answers ?? asked.map(() => undefined)
    },
  })

  /** Undefined: no answer; the store is down from now on. */
  async function inTime(ms: number, questions: readonly Question[]): Promise<Taken[] | undefined> {
    const late = timeOut(ms)
    try {
      return await Promise.race([store.take(questions), late.promise])
    } catch (err) {
      if (isUp && !closing.signal.aborted) {
        isUp = false
        log.warn(
          { err, store: store.name },
          'the store of rate limits does not answer: each replica counts alone until it does',
        )
        void retry()
      }
      return undefined
    } finally {
      late.cancel()
    }
  }

  async function retry(): Promise<void> {
    while (!isUp && !closing.signal.aborted) {
      store.reset()
      await sleep(RETRY_MS, undefined, { ref: false, signal: closing.signal }).catch(() => {})
      if (closing.signal.aborted || (await inTime(TRY_MS, [])) === undefined) continue
      isUp = true
      log.info({ store: store.name }, 'the store of rate limits answers again')
    }
  }

  await inTime(TRY_MS, [])
  return {
    isUp: () => isUp,
    async ask(key, rate, cost, ahead) {
      let asked = pending.get(key)
      if (!asked) {
        asked = { key, rate, waiting: 0, ahead }
        pending.set(key, asked)
      }
      const place = asked.waiting
      asked.waiting += cost
      const taken = await load(asked)
      return taken && { ...taken, place, left: Math.max(taken.granted - asked.waiting, 0) }
    },
    async close() {
      closing.abort()
      await store.close()
    },
  }
}

/** Rejects when the store has had its time. Time in which this process itself was busy does not count. */
function timeOut(ms: number) {
  const { promise, reject } = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout
  function wait() {
    const startedAt = performance.now()
    timer = setTimeout(() => {
      if (performance.now() - startedAt < 1.5 * ms) reject(new Error(`no answer within ${ms} ms`))
      else wait()
    }, ms)
  }
  wait()
  return { promise, cancel: () => clearTimeout(timer) }
}
