import { parentPort } from 'node:worker_threads'
import { embedTogether } from './local-model.ts'

export interface Asked {
  id: number
  texts: readonly string[]
}

/** The vectors one after the other, or the error. */
export type Answered = { id: number; vectors: Int8Array<ArrayBuffer> } | { id: number; error: string }

parentPort?.on('message', async ({ id, texts }: Asked) => {
  let answered: Answered
  try {
    answered = { id, vectors: await embedTogether(texts) }
  } catch (error) {
    answered = { id, error: String(error) }
  }
  parentPort?.postMessage(answered, 'vectors' in answered ? [answered.vectors.buffer] : [])
})
