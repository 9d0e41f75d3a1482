import type { Vector } from '@referrer/search'
import { postponeTexts, removeTexts, type Taken, takeTexts } from '../../derived/texts/queue.ts'
import type { Context } from '../../kit/context.ts'
import { despiteDeadlock } from '../../machinery/db/deadlock.ts'
import { errorText } from '../../machinery/workers/errors.ts'
import { descriptionIn } from '../../market/reviews/content.ts'
import { type Embedder, EmbeddingFailed } from './embedder.ts'
import { writeVectors } from './store.ts'

/** A text that fails on its own is tried this often; the last attempt is some hours after the first. */
const MOST_ATTEMPTS = 5
const FIRST_RETRY_SECONDS = 60
const RETRY_FACTOR = 6
/** A text that every model can embed, to tell a failing text from a failing model. */
const PLAIN = 'hello'

type Wanted = Taken & { text: NonNullable<Taken['text']> }

/**
 * Embeds a batch of queued texts, outside of any transaction. False: none is due. Throws if the model cannot be
 * reached; the texts then stay queued as before.
 */
export async function embedSome(context: Context, embedder: Embedder, signal: AbortSignal): Promise<boolean> {
  const { sql } = context
  const taken = await takeTexts(sql, embedder.id, embedder.atOnce)
  if (taken.length === 0) return false
  await removeTexts(
    sql,
    taken.filter(({ text }) => text === undefined),
  )
  const left = new Set(taken.filter((each): each is Wanted => each.text !== undefined))

  async function embed(texts: readonly Wanted[]): Promise<void> {
    const vectors = await unlessAborted(signal, embedder.embed(texts.map(wordsOf)))
    const embedded = texts.map((each, at) => ({
      taken: each,
      hash: each.text.hash,
      vector: vectors[at] as Vector,
    }))
    await despiteDeadlock(() => sql.begin((tx) => writeVectors(tx, embedder.id, embedded)))
    for (const text of texts) left.delete(text)
  }

  try {
    // Texts that failed before are not put into a batch with others.
    const together = [...left].filter(({ attempts }) => attempts === 0)
    if (together.length > 1) await failureOf(embed(together))
    let isModelFine = false
    for (const text of left) {
      const failure = await failureOf(embed([text]))
      if (!failure) continue
      if (!isModelFine) await unlessAborted(signal, embedder.embed([PLAIN]))
      isModelFine = true
      await retryOrDrop(context, embedder, text, failure)
      left.delete(text)
    }
  } catch (error) {
    if (error instanceof EmbeddingFailed)
      await postponeTexts(sql, [...left], { seconds: 0, isTextAtFault: false })
    throw error
  }
  return true
}

/** Returns the failure if one of the texts may be its cause; throws it otherwise. */
async function failureOf(work: Promise<void>): Promise<EmbeddingFailed | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof EmbeddingFailed && error.again === 'apart') return error
    throw error
  }
}

async function retryOrDrop(
  { sql, log }: Context,
  embedder: Embedder,
  text: Wanted,
  failure: EmbeddingFailed,
): Promise<void> {
  if (text.attempts + 1 < MOST_ATTEMPTS) {
    const seconds = FIRST_RETRY_SECONDS * RETRY_FACTOR ** text.attempts
    return postponeTexts(sql, [text], { seconds, isTextAtFault: true })
  }
  await removeTexts(sql, [text])
  log.warn(
    { embedder: embedder.id, ...nameOf(text), error: errorText(failure) },
    'a text could not be embedded: it is found by its words alone until it changes',
  )
}

const nameOf = ({ subject }: Taken) =>
  subject.what === 'review'
    ? { internalId: String(subject.internalId) }
    : {
        chainId: subject.chainId,
        merchantId: String(subject.product.merchantId),
        productId: `0x${subject.product.productId.toString('hex')}`,
      }

const wordsOf = ({ text }: Wanted) => ('product' in text ? text.product : descriptionIn(text.content))

/** When the service stops, it does not wait for the model's answer. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(new EmbeddingFailed('the service stops', 'later'))
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
