// One engine in a process of its own, so that it shares neither memory nor a crash with another.
import { DIMS, generate } from './data.ts'
import type { OpenEngine } from './engine.ts'
import { type Figures, judge, measure, type Part } from './measure.ts'
import { readJudged } from './quality.ts'

export type Order = {
  module: string
  part: Part
  items: number
  seed: number
  truthFile: string
  data: string | undefined
}
/** Undefined figures: the engine does not have this part. */
export type Answer = { figures: Figures | undefined } | { error: string }

process.once('message', (order: Order) => {
  work(order)
    .catch((error): Answer => ({ error: error instanceof Error ? error.message : String(error) }))
    .then((answer) => process.send?.(answer, undefined, undefined, () => process.exit()))
})

async function work({ module, part, items, seed, truthFile, data }: Order): Promise<Answer> {
  const { open }: { open: OpenEngine } = await import(module)
  const figures = await measure(open, generate(seed, items), { part, items, dims: DIMS, truthFile })
  if (figures && part === 'words' && data !== undefined) figures.ndcg_10 = await judge(open, readJudged(data))
  return { figures }
}
