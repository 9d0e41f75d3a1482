import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Asked, Catalogue } from './data.ts'
import type { Engine, Item, OpenEngine } from './engine.ts'
import { type Judged, ndcg } from './quality.ts'

/** Vectors and words are measured apart: many engines have only one of them. */
export type Part = 'vectors' | 'words'
/** Plain keys; what an engine cannot do is missing. */
export type Figures = Record<string, number>
export type Truth = Record<'all' | 'large' | 'small', number[][]>

const BATCH = 1_000
const QUESTIONS = 200
const WARM_UP = 50
const LIMIT = 100
const UPDATES = 20
const LONGEST_WAIT_MS = 10_000

type Ask = (asked: Asked, category: string | undefined) => Promise<number[]> | number[]

export async function measure(
  open: OpenEngine,
  catalogue: Catalogue,
  { part, items, dims, truthFile }: { part: Part; items: number; dims: number; truthFile: string },
): Promise<Figures | undefined> {
  const itemOf = (id: number): Item => {
    const item = catalogue.item(id)
    return part === 'words' ? { ...item, vector: undefined } : { ...item, name: '', description: '' }
  }
  itemOf(0)
  const before = residentBytes()
  const engine = await open({ items, dims })
  try {
    const ask = asker(engine, part)
    if (!ask) return undefined
    const figures: Figures = { build_seconds: await build(engine, itemOf, items) }
    figures.memory_bytes = residentBytes() - before + ((await engine.outsideBytes?.()) ?? 0)
    for (let number = 0; number < WARM_UP; number++)
      await ask(catalogue.question(QUESTIONS + number), undefined)
    const found = await askAll(ask, catalogue, figures)
    if (part === 'vectors') Object.assign(figures, recalls(found, truthFile))
    Object.assign(figures, await change(engine, part, ask, catalogue, itemOf))
    return figures
  } finally {
    await engine.close?.()
  }
}

/** nDCG@10 by words alone. */
export async function judge(open: OpenEngine, { items, queries }: Judged): Promise<number> {
  const engine = await open({ items: items.length, dims: 1 })
  try {
    for (let at = 0; at < items.length; at += BATCH) await engine.add(items.slice(at, at + BATCH))
    await engine.built?.()
    let sum = 0
    for (const { text, grades } of queries)
      sum += ndcg((await engine.match?.(text, 10, undefined)) ?? [], grades)
    return sum / queries.length
  } finally {
    await engine.close?.()
  }
}

function asker({ nearest, match }: Engine, part: Part): Ask | undefined {
  if (part === 'vectors') return nearest && (({ vector }, category) => nearest(vector, LIMIT, category))
  return match && (({ text }, category) => match(text, LIMIT, category))
}

/** The seconds that the engine took; making the items is not its work. */
async function build(engine: Engine, itemOf: (id: number) => Item, items: number): Promise<number> {
  let ms = 0
  const timed = async (work: () => Promise<void> | void) => {
    const begun = performance.now()
    await work()
    ms += performance.now() - begun
  }
  for (let at = 0; at < items; at += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, items - at) }, (_, index) => itemOf(at + index))
    await timed(() => engine.add(batch))
  }
  await timed(async () => engine.built?.())
  return ms / 1_000
}

async function askAll(ask: Ask, catalogue: Catalogue, figures: Figures): Promise<Truth> {
  const found: Truth = { all: [], large: [], small: [] }
  const questions = Array.from({ length: QUESTIONS }, (_, number) => catalogue.question(number))
  for (const kind of ['all', 'large', 'small'] as const) {
    const times: number[] = []
    const before = process.cpuUsage()
    for (const asked of questions) {
      const begun = performance.now()
      const ids = await ask(asked, kind === 'all' ? undefined : asked[kind])
      times.push(performance.now() - begun)
      found[kind].push(ids)
    }
    const { user, system } = process.cpuUsage(before)
    // Processor time of this process: a busy machine changes it little, and the work of a server is not in it.
    figures[`${kind}_cpu_ms`] = (user + system) / 1_000 / QUESTIONS
    times.sort((a, b) => a - b)
    figures[`${kind}_p50_ms`] = times[Math.ceil(QUESTIONS * 0.5) - 1] ?? Number.NaN
    figures[`${kind}_p99_ms`] = times[Math.ceil(QUESTIONS * 0.99) - 1] ?? Number.NaN
  }
  return found
}

/** The share of the truly nearest 10 and 100 that are among as many found. The first engine writes the truth to a file. */
function recalls(found: Truth, truthFile: string): Figures {
  const truth = readTruth(truthFile)
  if (!truth) {
    writeFileSync(truthFile, JSON.stringify(found))
    return {}
  }
  const figures: Figures = {}
  for (const kind of ['all', 'large', 'small'] as const) {
    for (const first of [10, LIMIT]) {
      const shares = truth[kind].map((wanted, index) => {
        const ids = new Set(found[kind][index]?.slice(0, first))
        const nearest = wanted.slice(0, first)
        return nearest.filter((id) => ids.has(id)).length / nearest.length
      })
      figures[`${kind}_recall_${first}`] = shares.reduce((sum, share) => sum + share, 0) / shares.length
    }
  }
  return figures
}

function readTruth(file: string): Truth | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** How long it takes until a changed item is found by what it is now, and until a removed one is found no more. */
async function change(
  engine: Engine,
  part: Part,
  ask: Ask,
  catalogue: Catalogue,
  itemOf: (id: number) => Item,
): Promise<Figures> {
  const { put, remove } = engine
  if (!put || !remove) return {}
  const puts: number[] = []
  const removals: number[] = []
  for (let id = 0; id < UPDATES; id++) {
    const asked = catalogue.question(id)
    const now =
      part === 'words'
        ? { ...itemOf(id), name: `${asked.text} unheard${id}` }
        : { ...itemOf(id), vector: asked.vector }
    const question = part === 'words' ? { ...asked, text: `unheard${id}` } : asked
    const isFound = async () => (await ask(question, undefined)).includes(id)
    puts.push(await until(() => put(now), isFound))
    removals.push(
      await until(
        () => remove(id),
        async () => !(await isFound()),
      ),
    )
  }
  return { update_visible_ms: median(puts), removal_visible_ms: median(removals) }
}

async function until(act: () => Promise<void> | void, isSeen: () => Promise<boolean>): Promise<number> {
  const begun = performance.now()
  await act()
  while (!(await isSeen())) {
    if (performance.now() - begun > LONGEST_WAIT_MS) return Number.POSITIVE_INFINITY
    await sleep(1)
  }
  return performance.now() - begun
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

function residentBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage.rss()
}
