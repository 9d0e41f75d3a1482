// The client of the search thread, and the worker that keeps the thread running.
import { Worker as Thread } from 'node:worker_threads'
import { withTimeout } from '@referrer/process'
import type { Explained, Hit, Question } from '@referrer/search'
import { type Context, oncePerProcess } from '../../kit/context.ts'
import { Bell } from '../../machinery/workers/bell.ts'
import type { Frame, Worker } from '../../machinery/workers/frame.ts'
import { configuredId } from '../embeddings/embedders.ts'
import type { FromThread, Standing, ThreadData, ToThread } from './messages.ts'

const POLL_MS = 250
/** Fewer products are loaded as quickly as a snapshot of them. */
const SNAPSHOT_FROM = 10_000
/** A request waits this long for hits, then is answered by ranks alone. */
const TIMEOUT_MS = 500
/** With more pending questions the thread could not answer in time, and later questions would wait, too. */
const MOST_UNDER_WAY = 64
/** If the index has not polled the database for this long, it is reported as failing. */
const LONGEST_AGE_MS = 10_000
const LOOK_MS = 1_000
const STOP_MS = 2_000

export interface SearchIndex {
  /** The model whose vectors are loaded; undefined: only words, or nothing is loaded. */
  readonly embedderId: string | undefined
  /** Undefined: not loaded, too many questions are pending, or no answer in time. Never rejects. */
  find(chainId: number, question: Question): Promise<Hit[] | undefined>
  explain(chainId: number, question: Question): Promise<Explained | undefined>
}

/** The state of a search index. */
export interface SearchState {
  /** Whether a worker of this process maintains the index. */
  isKept: boolean
  /** Whether it has ever been loaded. */
  wasLoaded: boolean
  /** Undefined: nothing is loaded. */
  standing: Standing | undefined
  /** Seconds since the index was last up to date; before the first load, since the start of the service. */
  readonly ageSeconds: number
  /** Called with the duration of each question. */
  onFind: (seconds: number) => void
}

export type SearchOptions = Partial<Pick<ThreadData, 'pollMs' | 'snapshotFrom'>>

interface Search extends SearchIndex {
  state: SearchState
  run(signal: AbortSignal, frame: Frame, options: SearchOptions): Promise<void>
}

const searchOf = oncePerProcess(createSearch)

export const searchIndex = (context: Context): SearchIndex => searchOf(context)

export const searchState = (context: Context): SearchState => searchOf(context).state

/** Runs the thread; the worker frame restarts it when it dies. */
export function searchWorker(context: Context, options: SearchOptions = {}): Worker {
  const search = searchOf(context)
  search.state.isKept = true
  return { name: 'search', run: (signal, frame) => search.run(signal, frame, options) }
}

function createSearch({ config, databaseUrl, chains }: Context): Search {
  const asked = new Map<number, (answer: Hit[] | Explained | undefined) => void>()
  /** Questions that the thread has not answered yet, including those that timed out. */
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

  function onMessage(message: FromThread, frame: Frame): void {
    if ('found' in message) {
      underWay.delete(message.found)
      asked.get(message.found)?.(message.answer)
    } else if ('failed' in message) frame.failing(new Error(message.failed))
    else {
      state.standing = message.polled
      state.wasLoaded = true
      polledAt = performance.now()
      frame.working()
    }
  }

  function detach(left: Thread): void {
    if (thread !== left) return
    thread = undefined
    state.standing = undefined
    underWay.clear()
    for (const answer of asked.values()) answer(undefined)
  }

  async function ask(chainId: number, question: Question, isExplained: boolean) {
    const to = thread
    if (!to || !state.standing || underWay.size >= MOST_UNDER_WAY) return undefined
    const begun = performance.now()
    const id = ++questions
    const { promise, resolve } = Promise.withResolvers<Hit[] | Explained | undefined>()
    asked.set(id, resolve)
    underWay.add(id)
    const { embedderId } = state.standing
    to.postMessage({ find: id, chainId, question, embedderId, isExplained } satisfies ToThread)
    const answer = await withTimeout(TIMEOUT_MS, promise)
    asked.delete(id)
    state.onFind((performance.now() - begun) / 1_000)
    return answer
  }

  return {
    state,
    get embedderId() {
      return state.standing?.embedderId
    },
    find: (chainId, question) => ask(chainId, question, false) as Promise<Hit[] | undefined>,
    explain: (chainId, question) => ask(chainId, question, true) as Promise<Explained | undefined>,
    async run(signal, frame, { pollMs = POLL_MS, snapshotFrom = SNAPSHOT_FROM }) {
      const workerData: ThreadData = {
        databaseUrl: databaseUrl.reveal(),
        chainIds: [...chains.keys()],
        configuredId: configuredId(config.embedder),
        pollMs,
        snapshotFrom,
      }
      const started = new Thread(new URL('./thread.ts', import.meta.url), {
        workerData,
        name: 'search',
        // Rows that are read are gone at once. A large young generation would only keep the memory of them.
        resourceLimits: { maxYoungGenerationSizeMb: 12 },
      })
      const bell = new Bell()
      let end: Error | undefined
      started.once('error', (error) => {
        end = new Error('the search thread failed', { cause: error })
      })
      started.once('exit', (code) => {
        end ??= new Error(`the search thread ended unexpectedly with exit code ${code}`)
        bell.ring()
      })
      started.on('message', (message: FromThread) => onMessage(message, frame))
      thread = started
      try {
        while (!signal.aborted) {
          await bell.wait(LOOK_MS, signal)
          if (end && !signal.aborted) throw end
          if (state.ageSeconds * 1_000 > LONGEST_AGE_MS) frame.failing(new Error(staleText(state)))
        }
        started.postMessage({ stop: true } satisfies ToThread)
        if (!end) await bell.wait(STOP_MS, frame.abort)
      } finally {
        detach(started)
        await started.terminate()
      }
    },
  }
}

const staleText = ({ standing, ageSeconds }: SearchState) =>
  `the search index has ${standing ? 'not followed the database' : 'not been loaded'} for ${Math.round(ageSeconds)} s; ` +
  'discovery answers from what is loaded, or by ranks alone if nothing is: check whether the database can be reached'
