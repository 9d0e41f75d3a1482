// A worker thread that learns word vectors from the market and stores them, then ends. It computes for a minute or two,
// during which requests must be answered.
import { parentPort, workerData } from 'node:worker_threads'
import { connect } from '@referrer/database'
import { commonWords, learnWords } from '@referrer/search'
import { type LessonLimits, readLessons } from './lessons.ts'
import { storeWords } from './words-store.ts'

export interface LearnData {
  databaseUrl: string
  products: number
  /** The newest word vectors so far. */
  former: bigint | undefined
  limits: LessonLimits
}

export type FromLearner =
  | { step: 'reading'; lessons: number }
  | { step: 'learning'; share: number }
  /** Undefined: another replica was faster. */
  | { learned: { id: string; lessons: number; terms: number; bytes: number } | undefined }

const { databaseUrl, products, former, limits } = workerData as LearnData
const tell = (message: FromLearner) => parentPort?.postMessage(message)

const begun = performance.now()
const pool = connect(databaseUrl, { max: 1, name: 'referrer learning' })
try {
  const lessons = await readLessons(pool, limits, (count) => tell({ step: 'reading', lessons: count }))
  tell({ step: 'learning', share: 0 })
  const words = learnWords(lessons, commonWords(), (share) => tell({ step: 'learning', share }))
  const body = words.write()
  const about = { lessons: lessons.length, terms: words.size }
  const tookMs = performance.now() - begun
  const id = await storeWords(pool, { ...about, former, products, tookMs, dims: words.dims, body })
  tell({ learned: id === undefined ? undefined : { ...about, id, bytes: body.length } })
} finally {
  await pool.end({ timeout: 0 })
}
