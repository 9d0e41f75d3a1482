import { Worker } from 'node:worker_threads'
import type { Vector } from '@referrer/search'
import { cut, inBatches } from '../../derived/texts/text.ts'
import { type Backoff, backoffMs } from '../../machinery/workers/backoff.ts'
import { type Embedder, EmbeddingFailed, embedNonBlank, type Kind } from './embedder.ts'
import { LOCAL } from './ids.ts'
import type { Answered, Asked } from './local-thread.ts'

/** The model reads less than this of a text in words. */
const MOST_CHARACTERS = 1_000
/** Batch limits for queued texts: an intent waits at most about 60 ms behind a batch. */
const TOGETHER = { most: 8, room: 640, sizeOf: (text: string) => text.length }
const INTENTS_TOGETHER = 8
/** More queued intents could not be answered within a request's time limit. */
const MOST_INTENTS = 16
/** After this many batches of intents one batch of texts runs, so that texts cannot starve. */
const INTENTS_IN_A_ROW = 4
const LONGEST_MS = 60_000

export interface LocalEmbedder extends Embedder {
  /** Loads the model in advance. */
  warm(): void
  /** Ends the thread if it has nothing to do, and with it frees its memory. The next call starts it again. */
  rest(): void
  /** Ends the thread. Queued and later calls fail. */
  close(): Promise<void>
}

/** The part of a worker thread that is used here. */
export type Thread = Pick<Worker, 'on' | 'postMessage' | 'ref' | 'unref' | 'terminate'>

export interface LocalOptions {
  spawn?: () => Thread
  backoff?: Backoff
  random?: () => number
}

interface Job {
  texts: readonly string[]
  resolve: (vectors: Vector[]) => void
  reject: (error: EmbeddingFailed) => void
}

/** Passes no environment: the thread must not see the service's settings. */
export const spawnThread = (): Thread =>
  new Worker(new URL('./local-thread.ts', import.meta.url), { execArgv: [], env: {}, name: 'embeddings' })

/** The embedder that is shipped with the service. Its thread is started at the first call, and again if it dies. */
export function createLocal({
  spawn = spawnThread,
  backoff = { firstMs: 200, maxMs: 30_000 },
  random = Math.random,
}: LocalOptions = {}): LocalEmbedder {
  const waiting: Record<Kind, Job[]> = { intents: [], texts: [] }
  let thread: Thread | undefined
  let underWay: { id: number; jobs: Job[]; timer: NodeJS.Timeout } | undefined
  let asked = 0
  let intentsInARow = 0
  let deaths = 0
  let pausing: NodeJS.Timeout | undefined
  let isClosed = false

  function start(): Thread {
    const started = spawn()
    started.unref()
    started.on('message', (answer: Answered) => finish(answer))
    const cause: { error?: unknown } = {}
    started.on('error', (error) => {
      cause.error = error
    })
    started.on('exit', () => {
      if (thread !== started) return
      thread = undefined
      deaths += 1
      const pauseMs = backoffMs(deaths, backoff, random)
      pausing = setTimeout(() => {
        pausing = undefined
        next()
      }, pauseMs).unref()
      const jobs = take()
      for (const { reject } of jobs)
        reject(new EmbeddingFailed('the thread of the model ended', 'apart', { cause: cause.error }))
    })
    return started
  }

  /** Takes the jobs that are under way, so that nothing is. */
  function take(): Job[] {
    const jobs = underWay?.jobs ?? []
    clearTimeout(underWay?.timer)
    underWay = undefined
    return jobs
  }

  function finish(answer: Answered): void {
    if (answer.id !== underWay?.id) return
    thread?.unref()
    const jobs = take()
    deaths = 0
    let place = 0
    for (const { texts, resolve, reject } of jobs) {
      if ('error' in answer) {
        reject(new EmbeddingFailed(`the model failed: ${answer.error}`, 'apart'))
        continue
      }
      const from = place
      place += texts.length
      resolve(texts.map((_, at) => vectorAt(answer.vectors, from + at)))
    }
    next()
  }

  function chooseJobs(): Job[] {
    const isTextsTurn = intentsInARow >= INTENTS_IN_A_ROW && waiting.texts.length > 0
    if (waiting.intents.length > 0 && !isTextsTurn) {
      intentsInARow += 1
      return waiting.intents.splice(0, INTENTS_TOGETHER)
    }
    intentsInARow = 0
    return waiting.texts.splice(0, 1)
  }

  function next(): void {
    if (underWay || pausing || isClosed) return
    const jobs = chooseJobs()
    if (jobs.length === 0) return
    thread ??= start()
    thread.ref()
    const timer = setTimeout(() => thread?.terminate(), LONGEST_MS).unref()
    underWay = { id: ++asked, jobs, timer }
    const question: Asked = { id: asked, texts: jobs.flatMap(({ texts }) => texts) }
    thread.postMessage(question)
  }

  function ask(kind: Kind, texts: readonly string[]): Promise<Vector[]> {
    if (isClosed) return Promise.reject(new EmbeddingFailed('the service stops', 'later'))
    if (kind === 'intents' && waiting.intents.length >= MOST_INTENTS)
      return Promise.reject(new EmbeddingFailed('too many intents wait for the model', 'soon'))
    const { promise, resolve, reject } = Promise.withResolvers<Vector[]>()
    waiting[kind].push({ texts, resolve, reject })
    next()
    return promise
  }

  return {
    ...LOCAL,
    atOnce: 2 * TOGETHER.most,
    embed: (texts, kind = 'texts') =>
      embedNonBlank(texts, LOCAL.dims, async (nonBlank) => {
        const words = nonBlank.map((text) => cut(text, MOST_CHARACTERS).replace(/\s+/g, ' ').trim())
        const batches = inBatches(words, TOGETHER)
        return (await Promise.all(batches.map((batch) => ask(kind, batch)))).flat()
      }),
    warm() {
      if (!isClosed) thread ??= start()
    },
    rest() {
      if (underWay || waiting.intents.length + waiting.texts.length > 0) return
      const idle = thread
      thread = undefined
      void idle?.terminate()
    },
    async close() {
      isClosed = true
      clearTimeout(pausing)
      const ended = thread
      thread = undefined
      for (const { reject } of [...take(), ...waiting.intents.splice(0), ...waiting.texts.splice(0)])
        reject(new EmbeddingFailed('the service stops', 'later'))
      await ended?.terminate()
    },
  }
}

const vectorAt = (vectors: Int8Array, at: number) => vectors.slice(at * LOCAL.dims, (at + 1) * LOCAL.dims)
