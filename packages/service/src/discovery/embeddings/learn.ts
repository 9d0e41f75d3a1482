// Learns word vectors from the market's own texts: when there are enough, and again as the market grows and changes.
import { Worker as Thread } from 'node:worker_threads'
import type { Context } from '../../kit/context.ts'
import { type Backoff, backoffMs } from '../../machinery/workers/backoff.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import type { FromLearner, LearnData } from './learn-thread.ts'
import type { LessonLimits } from './lessons.ts'
import { dueLesson } from './words-store.ts'

const LOOK_SECONDS = 600
export const LESSON_LIMITS: LessonLimits = { enough: 1_000, all: 200_000 }
/** With fewer products the local model finds more, and embeds them in some minutes. */
const LEAST_AFTER_LOCAL = 5_000
/** A lesson that takes longer is logged while it goes on, and then so often. */
const SILENT_MS = 2_000
const TOLD_EVERY_MS = 10_000
/** A lesson costs much, so that one that fails is not repeated with every run of the schedule. */
const BACKOFF: Backoff = { firstMs: 60_000, maxMs: 6 * 3_600_000 }
/** What the thread may have for its objects; more would be a fault. The matrix and the vectors come on top. */
const MOST_HEAP_MB = 2_048

type LearnContext = Pick<Context, 'sql' | 'databaseUrl' | 'log' | 'clock' | 'config'>

export interface LearnOptions {
  /** A market with fewer open products is not learned from. */
  least?: number
  limits?: LessonLimits
  spawn?: (data: LearnData) => Thread
}

/** One replica learns at a time. */
export function learnSchedule(context: LearnContext, options: LearnOptions = {}): Schedule {
  let failures = 0
  let notBefore = 0
  return {
    name: 'learn-words',
    everySeconds: LOOK_SECONDS,
    async run({ signal }) {
      if (context.clock() < notBefore) return
      try {
        await learnIfDue(context, signal, options)
        failures = 0
      } catch (error) {
        if (!signal.aborted) {
          failures += 1
          notBefore = context.clock() + backoffMs(failures, BACKOFF, Math.random)
        }
        throw error
      }
    },
  }
}

/** Returns the id of the new word vectors; undefined: none were learned. */
async function learnIfDue(
  { sql, databaseUrl, log, config }: LearnContext,
  signal: AbortSignal,
  { limits = LESSON_LIMITS, spawn = spawnThread, ...options }: LearnOptions,
): Promise<void> {
  const least = options.least ?? (config.embedder?.kind === 'auto' ? LEAST_AFTER_LOCAL : LESSON_LIMITS.enough)
  const due = await dueLesson(sql, least)
  if (!due || signal.aborted) return
  const begun = performance.now()
  let tellAt = begun + SILENT_MS
  const onStep = (step: Exclude<FromLearner, { learned: unknown }>) => {
    if (performance.now() < tellAt) return
    tellAt = performance.now() + TOLD_EVERY_MS
    log.info({ ...step, products: due.products }, 'word vectors are being learned')
  }
  const { products, former } = due
  const data = { databaseUrl: databaseUrl.reveal(), products, former: former?.number, limits }
  const learned = await learnInThread(spawn(data), signal, onStep)
  const tookMs = Math.round(performance.now() - begun)
  if (learned)
    log.info({ ...learned, products, tookMs }, 'word vectors were learned; all texts are embedded with them')
  else log.info({ tookMs }, 'another replica has learned word vectors meanwhile')
}

const spawnThread = (workerData: LearnData): Thread =>
  new Thread(new URL('./learn-thread.ts', import.meta.url), {
    workerData,
    name: 'learning',
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
  })

type Learned = Extract<FromLearner, { learned: unknown }>['learned']

/** Ends the thread when the signal is aborted: what it has not stored is gone, and nothing is left of it. */
async function learnInThread(
  thread: Thread,
  signal: AbortSignal,
  onStep: (step: Exclude<FromLearner, { learned: unknown }>) => void,
): Promise<Learned> {
  const { promise, resolve, reject } = Promise.withResolvers<Learned>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  thread.on('message', (message: FromLearner) =>
    'learned' in message ? resolve(message.learned) : onStep(message),
  )
  thread.once('error', reject)
  thread.once('exit', (code) =>
    reject(new Error(`the learning thread ended without a result, with exit code ${code}`)),
  )
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', stop)
    await thread.terminate()
  }
}
