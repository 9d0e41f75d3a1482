// Those who ask the thread that searches, and the worker that keeps it running.
import { Worker as Thread } from 'node:worker_threads'
import { withTimeout } from '@referrer/process'
import type { Hit, Question } from '@referrer/search'
import { type Context, once } from '../../kit/context.ts'
import { Bell } from '../../machinery/workers/bell.ts'
import type { Frame, Worker } from '../../machinery/workers/frame.ts'
import { configuredId } from '../embeddings/embedders.ts'
import type { FromThread, Standing, ThreadData, ToThread } from './messages.ts'

const POLL_MS = 250
/** Nobody waits longer for hits; ranks answer without. */
const PATIENCE_MS = 100
/** More could not be answered by then, and would only keep those who ask next waiting. */
const MOST_UNDER_WAY = 64
/** Without a poll for so long, what is found is too old to call it working. */
const LONGEST_SILENCE_MS = 10_000
const LOOK_MS = 1_000
const STOP_MS = 2_000

export interface SearchIndex {
  /** The model whose vectors are loaded; undefined: words alone, or nothing is loaded. */
  readonly embedderId: string | undefined
  /** Undefined: not loaded, too much is asked, or no answer in time. Never fails. */
  find(chainId: number, question: Question): Promise<Hit[] | undefined>
}

/** What a search index tells of itself. */
export interface SearchState {
  /** Whether a worker keeps it. */
  isKept: boolean
  /** Ever. */
  wasLoaded: boolean
  /** Undefined: nothing is loaded. */
  standing: Standing | undefined
  /** Since a thread last knew all there was; before one did, since the service began. */
  readonly ageSeconds: number
  /** Hears how long each question took. */
  onFind: (seconds: number) => void
}

interface Search extends SearchIndex {
  state: SearchState
  run(signal: AbortSignal, frame: Frame, pollMs: number): Promise<void>
}

const searchOf = once(createSearch)

export const searchIndex = (context: Context): SearchIndex => searchOf(context)

export const searchState = (context: Context): SearchState => searchOf(context).state

/** Runs the thread; the frame starts it again when it dies. */
export function searchWorker(context: Context, pollMs = POLL_MS): Worker {
  const search = searchOf(context)
  search.state.isKept = true
  return { name: 'search', run: (signal, frame) => search.run(signal, frame, pollMs) }
}

function createSearch({ config, databaseUrl, chains }: Context): Search {
  const asked = new Map<number, (hits: Hit[] | undefined) => void>()
  /** What the thread has yet to answer, whether somebody still waits for it or not. */
  const underWay = new Set<number>()
  let thread: Thread | undefined
  let questions = 0
  let polledAt = performance.now()
  const state: SearchState = {
    isKept: false,
    wasLoaded: false,
    standing: undefined,
    get ageSeconds() {
      return (performance.now() - polledAt) / 1_000
    },
    onFind() {},
  }

  function hear(message: FromThread, frame: Frame): void {
    if ('found' in message) {
      underWay.delete(message.found)
      asked.get(message.found)?.(message.hits)
    } else if ('failed' in message) frame.failing(new Error(message.failed))
    else {
      state.standing = message.polled
      state.wasLoaded = true
      polledAt = performance.now()
      frame.working()
    }
  }

  function leave(left: Thread): void {
    if (thread !== left) return
    thread = undefined
    state.standing = undefined
    underWay.clear()
    for (const answer of asked.values()) answer(undefined)
  }

  return {
    state,
    get embedderId() {
      return state.standing?.embedderId
    },
    async find(chainId, question) {
      const to = thread
      if (!to || !state.standing || underWay.size >= MOST_UNDER_WAY) return undefined
      const begun = performance.now()
      const id = ++questions
      const { promise, resolve } = Promise.withResolvers<Hit[] | undefined>()
      asked.set(id, resolve)
      underWay.add(id)
      to.postMessage({ find: id, chainId, question } satisfies ToThread)
      const hits = await withTimeout(PATIENCE_MS, promise)
      asked.delete(id)
      state.onFind((performance.now() - begun) / 1_000)
      return hits
    },
    async run(signal, frame, pollMs) {
      const workerData: ThreadData = {
        databaseUrl: databaseUrl.reveal(),
        chainIds: [...chains.keys()],
        configuredId: configuredId(config.embedder),
        pollMs,
      }
      const started = new Thread(new URL('./thread.ts', import.meta.url), {
        workerData,
        name: 'search',
        // Nearly all that is read while loading stays: moved less often, it is moved in less time.
        resourceLimits: { maxYoungGenerationSizeMb: 128 },
      })
      const bell = new Bell()
      let end: Error | undefined
      started.once('error', (error) => {
        end = new Error('the search thread failed', { cause: error })
      })
      started.once('exit', (code) => {
        end ??= new Error(`the search thread ended by itself with ${code}`)
        bell.ring()
      })
      started.on('message', (message: FromThread) => hear(message, frame))
      thread = started
      try {
        while (!signal.aborted) {
          await bell.wait(LOOK_MS, signal)
          if (end && !signal.aborted) throw end
          if (state.ageSeconds * 1_000 > LONGEST_SILENCE_MS) frame.failing(new Error(silence(state)))
        }
        started.postMessage({ stop: true } satisfies ToThread)
        if (!end) await bell.wait(STOP_MS, frame.abort)
      } finally {
        leave(started)
        await started.terminate()
      }
    },
  }
}

const silence = ({ standing, ageSeconds }: SearchState) =>
  `the search index has ${standing ? 'not followed the database' : 'not been loaded'} for ${Math.round(ageSeconds)} s; ` +
  'discovery goes on with what it knows, and by ranks where that is nothing: see whether the database answers'
