// What is sold in the marketplace. It alone knows, so it is asked.
import { createCache } from '@referrer/process'
import { type Context, once } from '../context.ts'

export interface CatalogueQuestion {
  path: '/discovery/resources' | '/discovery/search'
  query: URLSearchParams
  /** The address of who asks. A marketplace that trusts us as a proxy limits each of our clients, not all of them together. */
  client: string
}

/**
 * `told`: 200 with the answer as it came. `refused`: 400 with what is wrong with the question. `away`: ask again later; `onlyFor`: this
 * client, others may get an answer now.
 */
export type CatalogueAnswer =
  | { kind: 'told'; body: Buffer }
  | { kind: 'refused'; error: string }
  | { kind: 'away'; retryAfterSeconds: number; onlyFor?: string }

const PATIENCE_MS = 5_000
const MOST_BYTES = 4 * 1024 * 1024
/** Beyond this many questions at once, further ones are turned away: payments come first. */
const AT_ONCE = 16
const MOST_KEPT = 500
const MOST_KEPT_BYTES = 32 * 1024 * 1024
const KEPT_MS = 5_000
/** A marketplace that is away is asked the same thing once a second. */
const AWAY_MS = 1_000
const LONGEST_WAIT_SECONDS = 60
/** How often one who waited for the answer to somebody else's question asks again, when that one alone is limited. */
const MOST_TURNS = 3

export const askCatalogue = once((context) => {
  let underWay = 0
  async function load(question: CatalogueQuestion): Promise<CatalogueAnswer> {
    const { client: onlyFor } = question
    if (underWay >= AT_ONCE) return { kind: 'away', retryAfterSeconds: 1, onlyFor }
    underWay += 1
    try {
      return await ask(context, question)
    } catch (err) {
      context.log.warn({ err }, 'the catalogue of the marketplace cannot be read')
      return { kind: 'away', retryAfterSeconds: 1 }
    } finally {
      underWay -= 1
    }
  }
  const shared = createCache<CatalogueQuestion, CatalogueAnswer>({
    keyOf: ({ path, query }) => `${path}?${query}`,
    load,
    ttlMs: (answer) => {
      if (answer.kind !== 'away') return KEPT_MS
      return answer.onlyFor === undefined ? AWAY_MS : 0
    },
    clock: context.clock,
    max: MOST_KEPT,
    maxBytes: MOST_KEPT_BYTES,
    bytesOf: (answer) => (answer.kind === 'told' ? answer.body.length : 1),
  })
  return async (question: CatalogueQuestion): Promise<CatalogueAnswer> => {
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      const answer = await shared(question)
      const isForAnother =
        answer.kind === 'away' && answer.onlyFor !== undefined && answer.onlyFor !== question.client
      if (!isForAnother) return answer
    }
    return load(question)
  }
})

async function ask(
  { config: { marketUrl }, fetch }: Context,
  { path, query, client }: CatalogueQuestion,
): Promise<CatalogueAnswer> {
  const response = await fetch(`${marketUrl}${path}?${query}`, {
    headers: { accept: 'application/json', 'x-forwarded-for': client },
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  if (response.status === 429) {
    await response.body?.cancel()
    const seconds = Math.ceil(Number(response.headers.get('retry-after'))) || 1
    const retryAfterSeconds = Math.min(Math.max(seconds, 1), LONGEST_WAIT_SECONDS)
    return { kind: 'away', retryAfterSeconds, onlyFor: client }
  }
  const body = await bodyOf(response)
  if (response.status === 200) return { kind: 'told', body }
  if (response.status === 400) return { kind: 'refused', error: errorIn(body) }
  throw new Error(`the marketplace answered with status ${response.status}`)
}

async function bodyOf({ body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    // Leaving the loop cancels the response.
    if (length > MOST_BYTES) throw new Error(`the answer is larger than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function errorIn(body: Buffer): string {
  const { error } = Object(JSON.parse(body.toString())) as { error?: unknown }
  return typeof error === 'string' ? error : 'bad request'
}
