import { createLoader } from '@referrer/process'
import { quantize, type Vector } from '@referrer/search'
import { cut, inBatches } from '../../derived/texts/text.ts'
import type { EmbedderConfig } from '../../kit/config.ts'
import { fieldsOf, jsonOf } from '../../kit/loose-json.ts'
import { readBody } from '../../kit/read-body.ts'
import { type Embedder, EmbeddingFailed, embedNonBlank } from './embedder.ts'
import { endpointId } from './ids.ts'

type EndpointConfig = Extract<EmbedderConfig, { kind: 'endpoint' }>

const MOST_TEXTS = 64
const MOST_BYTES = 100_000
/** Limit for one answer: parsing more numbers would block the event loop noticeably. */
const MOST_NUMBERS = 32_768
/** Longer texts are cut, because some endpoints refuse texts above their limit. */
const MOST_CHARACTERS = 4_000
const TEXTS_TIMEOUT_MS = 30_000
/** Longer than any caller waits: a late answer still goes into the cache for the next request. */
const INTENTS_TIMEOUT_MS = 5_000
const INTENT_CALLS = 8

/** A model behind `POST <url>/embeddings`, the API of OpenAI. */
export function createEndpoint(
  { url, model, dims, key }: EndpointConfig,
  fetch: typeof globalThis.fetch,
): Embedder {
  const { host } = new URL(url)
  const atOnce = Math.max(1, Math.min(MOST_TEXTS, Math.floor(MOST_NUMBERS / dims)))

  async function call(texts: readonly string[], timeoutMs: number): Promise<Vector[]> {
    const response = await reach(() =>
      fetch(`${url}/embeddings`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(key ? { authorization: `Bearer ${key.reveal()}` } : {}),
        },
        body: JSON.stringify({ model, input: texts }),
        // No redirects: the key must not be sent to another host.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      }),
    )
    if (!response.ok) {
      await response.body?.cancel().catch(() => {})
      throw refusal(response)
    }
    const body = await reach(() => readBody(response, mostBytes(texts.length)))
    const vectors = body && readAnswer(body, texts.length, dims)
    if (!vectors) throw new EmbeddingFailed(`${host} answered with something else than vectors`, 'apart')
    if (typeof vectors === 'number')
      throw new EmbeddingFailed(
        `${host} answered with vectors of ${vectors} numbers: set EMBEDDINGS_DIMENSIONS to that`,
        'later',
      )
    return vectors
  }

  async function reach<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError'
      throw new EmbeddingFailed(
        `${host} ${isLate ? 'did not answer in time' : 'cannot be reached'}`,
        'later',
        {
          cause: error,
        },
      )
    }
  }

  /** The endpoint's own error text is left out, because it may contain part of the key. */
  function refusal({ status, headers }: Response): EmbeddingFailed {
    const [again, advice] = adviceOn(status)
    const message = `${host} answered ${status} for ${model}${advice && `: ${advice}`}`
    return new EmbeddingFailed(message, again, { retryAfterMs: readRetryAfter(headers.get('retry-after')) })
  }

  const mostBytes = (texts: number) => 65_536 + texts * dims * 32

  const askIntent = createLoader<string, Vector>({
    keyOf: (text) => text,
    load: (texts) => call(texts, INTENTS_TIMEOUT_MS),
    concurrency: INTENT_CALLS,
    maxBatch: atOnce,
  })

  return {
    id: endpointId({ model, dims }),
    dims,
    atOnce,
    embed: (texts, kind = 'texts') =>
      embedNonBlank(texts, dims, async (nonBlank) => {
        const cutTexts = nonBlank.map((text) => cut(text, MOST_CHARACTERS))
        if (kind === 'intents') return Promise.all(cutTexts.map(askIntent))
        const vectors: Vector[] = []
        for (const batch of inBatches(cutTexts, { most: atOnce, room: MOST_BYTES, sizeOf }))
          vectors.push(...(await call(batch, TEXTS_TIMEOUT_MS)))
        return vectors
      }),
  }
}

/** The size of the text as an item of a JSON array, in bytes. */
const sizeOf = (text: string) => Buffer.byteLength(JSON.stringify(text)) + 1

function adviceOn(status: number): [again: 'later' | 'apart', advice: string] {
  if (status === 401 || status === 403) return ['later', 'check EMBEDDINGS_KEY']
  if (status === 404 || status === 405) return ['later', 'check EMBEDDINGS_URL and EMBEDDINGS_MODEL']
  if (status === 408 || status === 429 || status === 503) return ['later', '']
  return ['apart', '']
}

/** Only the form in seconds is supported, not dates. */
function readRetryAfter(text: string | null): number | undefined {
  return text !== null && /^\d{1,5}$/.test(text) ? Number(text) * 1_000 : undefined
}

/**
 * The vectors in the order of the texts. A number: the wrong length of a vector. Undefined: the body is not a valid
 * answer.
 */
function readAnswer(body: Buffer, count: number, dims: number): Vector[] | number | undefined {
  const { data } = fieldsOf(jsonOf(body))
  if (!Array.isArray(data) || data.length !== count) return undefined
  const vectors: Vector[] = []
  for (const { index, embedding } of data.map((item) => Object(item))) {
    if (!Number.isInteger(index) || index < 0 || index >= count || vectors[index]) return undefined
    if (!Array.isArray(embedding) || !embedding.every(Number.isFinite)) return undefined
    if (embedding.length !== dims) return embedding.length
    vectors[index] = quantize(embedding)
  }
  return vectors
}
