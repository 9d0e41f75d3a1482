import { createHash } from 'node:crypto'
import { withTimeout } from '@referrer/process'
import { commonWords, type Vector } from '@referrer/search'
import { LRUCache } from 'lru-cache'
import { cut } from '../../derived/texts/text.ts'
import { type Context, oncePerProcess } from '../../kit/context.ts'
import { type Embedder, EmbeddingFailed } from './embedder.ts'
import { embedderOf, isWordsId } from './embedders.ts'
import { LOCAL } from './ids.ts'
import { wordModels } from './words.ts'

/** A request waits this long for its vector, then is answered by words alone. */
const TIMEOUT_MS = 150
const MOST_CHARACTERS = 1_000
const MOST_KEPT = 10_000
const MOST_UNDER_WAY = 256
/**
 * Circuit breaker: after this many failures in a row no intent is sent during a pause, then one at a time until one
 * succeeds.
 */
const MOST_FAILURES = 5
const PAUSE_MS = 1_000

/**
 * Intents whose vector was in the cache, came in time, came too late, failed, or was not requested, and intents of
 * which the model knows too few words.
 */
type Outcome = 'kept' | 'embedded' | 'late' | 'failed' | 'skipped' | 'unknown'

interface Intents {
  counts: Record<Outcome, number>
  embed(intent: string, embedder: Embedder): Promise<Vector | undefined>
}

/**
 * Undefined: it failed or took too long. A late vector still goes into the cache for the next request. Zeros: the
 * model knows too few of the words.
 */
export async function embedIntent(
  context: Context,
  intent: string,
  embedderId: string,
): Promise<Vector | undefined> {
  if (isWordsId(embedderId)) return embedWords(context, intent, embedderId)
  const embedder = await embedderOf(context, embedderId)
  if (!embedder) return undefined
  const intents = intentsOf(context)
  if (embedderId === LOCAL.id && !commonWords().understands(readable(intent))) {
    intents.counts.unknown += 1
    return new Int8Array(LOCAL.dims)
  }
  return intents.embed(intent, embedder)
}

/** Word vectors answer at once; only their first intent may have to wait until they are loaded. */
async function embedWords(context: Context, intent: string, id: string): Promise<Vector | undefined> {
  const { counts } = intentsOf(context)
  const text = readable(intent)
  if (text === '') return undefined
  const words =
    wordModels(context).loaded(id) ??
    (await withTimeout(TIMEOUT_MS, loadOrLog(context, id), () => 'late' as const))
  if (words === undefined || words === 'late') {
    counts[words ?? 'failed'] += 1
    return undefined
  }
  const vector = words.embedIntent(text)
  counts[vector.some((value) => value !== 0) ? 'embedded' : 'unknown'] += 1
  return vector
}

const loadOrLog = (context: Context, id: string) =>
  wordModels(context)
    .load(id)
    .catch((err) => {
      context.log.debug({ err, embedder: id }, 'word vectors were not loaded')
      return undefined
    })

export const countIntents = (context: Context): Readonly<Record<Outcome, number>> => intentsOf(context).counts

const intentsOf = oncePerProcess(({ log }): Intents => {
  const kept = new LRUCache<string, Vector>({ max: MOST_KEPT })
  const underWay = new Map<string, Promise<Vector | undefined>>()
  const breakers = new Map<string, Breaker>()
  const counts = { kept: 0, embedded: 0, late: 0, failed: 0, skipped: 0, unknown: 0 }

  async function ask(key: string, text: string, embedder: Embedder, breaker: Breaker) {
    // A late answer counts as a failure, even if it arrives, because nobody waited for it.
    const late = setTimeout(() => breaker.failed(), TIMEOUT_MS)
    try {
      const [vector] = await embedder.embed([text], 'intents')
      if (vector) kept.set(key, vector)
      breaker.worked()
      return vector
    } catch (err) {
      if (!(err instanceof EmbeddingFailed && err.again === 'soon')) breaker.failed()
      log.debug({ err, embedder: embedder.id }, 'an intent was not embedded')
      return undefined
    } finally {
      clearTimeout(late)
      underWay.delete(key)
    }
  }

  return {
    counts,
    async embed(intent, embedder) {
      const text = readable(intent)
      if (text === '') return undefined
      const key = keyOf(embedder.id, text)
      const known = kept.get(key)
      if (known) {
        counts.kept += 1
        return known
      }
      let flight = underWay.get(key)
      if (!flight) {
        const breaker = breakers.get(embedder.id) ?? createBreaker()
        breakers.set(embedder.id, breaker)
        if (underWay.size >= MOST_UNDER_WAY || !breaker.allows()) {
          counts.skipped += 1
          return undefined
        }
        flight = ask(key, text, embedder, breaker)
        underWay.set(key, flight)
      }
      const vector = await withTimeout(TIMEOUT_MS, flight, () => 'late' as const)
      counts[vector === 'late' ? 'late' : vector ? 'embedded' : 'failed'] += 1
      return vector === 'late' ? undefined : vector
    },
  }
})

/** Normalises spacing and Unicode forms, so that they share a cache entry. */
const readable = (intent: string): string =>
  cut(intent, MOST_CHARACTERS).normalize('NFKC').replace(/\s+/g, ' ').trim()

const keyOf = (embedderId: string, text: string) =>
  createHash('sha256').update(`${embedderId}\n${text}`).digest('base64')

interface Breaker {
  allows(): boolean
  worked(): void
  failed(): void
}

function createBreaker(): Breaker {
  let failures = 0
  let closedUntil = 0
  return {
    allows() {
      if (failures < MOST_FAILURES) return true
      const now = performance.now()
      if (now < closedUntil) return false
      // Lets one request through; the next may go after this one has succeeded or the pause has passed.
      closedUntil = now + PAUSE_MS
      return true
    },
    worked() {
      failures = 0
    },
    failed() {
      failures += 1
      if (failures >= MOST_FAILURES) closedUntil = performance.now() + PAUSE_MS
    },
  }
}
