// Vectors by the model that comes with the service. It takes minutes for a catalogue, so that what it made once is kept.
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Vector } from '@referrer/search'
import { createLocal, LOCAL, type LocalEmbedder } from '@referrer/service/testing'
import { progress } from '../../stage.ts'

export type { LocalEmbedder }
export const openLocal = (): LocalEmbedder => createLocal()

const HASH_BYTES = 32
const RECORD_BYTES = HASH_BYTES + LOCAL.dims
const AT_ONCE = 64
const TOLD_EVERY = 2_048
const KEPT = fileURLToPath(
  new URL(
    `../../../../node_modules/.cache/referrer-bench/${LOCAL.id.replaceAll(/\W+/g, '-')}.vectors`,
    import.meta.url,
  ),
)

/** The vectors of all texts, with a model for each core. */
export async function embedTexts(texts: readonly string[]): Promise<Vector[]> {
  const kept = readKept()
  const hashes = texts.map((text) => createHash('sha256').update(text).digest())
  const missing = new Map(
    texts.flatMap((text, at) => {
      const hash = hashes[at] as Buffer
      return kept.has(hash.toString('hex')) ? [] : [[text, hash] as const]
    }),
  )
  const left = [...missing]
  mkdirSync(dirname(KEPT), { recursive: true })
  let done = 0
  async function embedSome(): Promise<void> {
    const model = openLocal()
    for (let some = left.splice(0, AT_ONCE); some.length > 0; some = left.splice(0, AT_ONCE)) {
      if (done % TOLD_EVERY === 0) progress(`embedding products: ${left.length + some.length} to go`)
      done += some.length
      const vectors = await model.embed(
        some.map(([text]) => text),
        'texts',
      )
      const records = some.map(([, hash], at) => [hash, Buffer.from(vectors[at] ?? [])] as const)
      for (const [hash, vector] of records) kept.set(hash.toString('hex'), vector)
      appendFileSync(KEPT, Buffer.concat(records.flat()))
    }
    await model.close()
  }
  if (left.length > 0) await Promise.all(Array.from({ length: availableParallelism() }, embedSome))
  return hashes.map((hash) => new Int8Array(kept.get(hash.toString('hex')) ?? []))
}

function readKept(): Map<string, Buffer> {
  const kept = new Map<string, Buffer>()
  if (!existsSync(KEPT)) return kept
  const bytes = readFileSync(KEPT)
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES)
    kept.set(bytes.toString('hex', at, at + HASH_BYTES), bytes.subarray(at + HASH_BYTES, at + RECORD_BYTES))
  return kept
}
