import { execFile, fork } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { createParts } from '../parts.ts'
import { endWhenInterrupted, interrupt } from '../processes.ts'
import { fail, progress, warnIfBusy } from '../stage.ts'
import { CANDIDATES, EXACT } from './candidates.ts'
import type { Answer, Order } from './child.ts'
import type { Candidate } from './engine.ts'
import type { Part } from './measure.ts'
import { type Outcome, summarise } from './summary.ts'

const HELP = `bench:discover-engines: what could look for products, beside our own engine

Each engine gets the same generated products in a process of its own: first vectors (512 dimensions, in clusters), then words (Zipf).
Questions are 200, one after the other, the best 100 of each wanted: of all products, of a category that holds a tenth of them, and of
one that holds a hundredth. Recall is against a scan of all vectors in single precision. Engines of others are installed into
bench/engines/node_modules when they are first measured; one that cannot be installed or crashes is reported with the reason.

  --items N      products (20000); 200000 takes about half an hour
  --only a,b     these engines alone: ${CANDIDATES.map(({ name }) => name).join(', ')}
  --data DIR     a judged catalogue (products.jsonl, queries.jsonl, qrels.tsv): nDCG@10 of the words as well
  --seed N       other products (1)`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    items: { type: 'string', default: '20000' },
    only: { type: 'string' },
    data: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
})

const engines = new URL('../../engines/', import.meta.url)

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  const candidates = chosen()
  const order = {
    items: wholeNumber('items'),
    seed: wholeNumber('seed'),
    data: values.data && resolve(values.data),
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt)
  warnIfBusy()
  if (candidates.some(({ isForeign }) => isForeign)) await install()

  const directory = mkdtempSync(join(tmpdir(), 'bench-engines-'))
  try {
    const truthFile = join(directory, 'truth.json')
    const parts = createParts()
    const outcomes: Outcome[] = []
    const run = async (candidate: Candidate, part: Part) => {
      progress(`${candidate.name}: ${part}`)
      await parts.run(`${candidate.name}, ${part}`, async () => {
        const answer = await inChild(candidate, { ...order, part, truthFile, module: candidate.module.href })
        if ('error' in answer) throw new Error(answer.error)
        if (answer.figures) outcomes.push({ candidate, part, figures: answer.figures })
      })
    }
    await run(EXACT, 'vectors')
    for (const candidate of candidates)
      for (const part of ['vectors', 'words'] as const) await run(candidate, part)
    summarise(outcomes, order.items, parts)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function chosen(): readonly Candidate[] {
  if (values.only === undefined) return CANDIDATES
  const names = values.only.split(',')
  const unknown = names.find((name) => CANDIDATES.every((candidate) => candidate.name !== name))
  if (unknown !== undefined) throw new Error(`--only: there is no ${unknown}; --help names the engines`)
  return CANDIDATES.filter(({ name }) => names.includes(name))
}

/** None of them is a dependency of the market. What fails to install fails to load later, and is reported there. */
async function install(): Promise<void> {
  const changedAt = (file: string) =>
    statSync(new URL(file, engines), { throwIfNoEntry: false })?.mtimeMs ?? -1
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return
  progress('installing the engines into bench/engines/node_modules (npm ci, once, about a minute)')
  await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: fileURLToPath(engines) }).catch(
    (error: Error) => progress(`npm ci failed: ${error.message.split('\n').slice(0, 3).join(' ')}`),
  )
}

function inChild(candidate: Candidate, order: Order): Promise<Answer> {
  const child = fork(new URL('child.ts', import.meta.url), {
    execArgv: ['--expose-gc', '--max-old-space-size=12288'],
    env: { ...process.env, ...candidate.env },
  })
  endWhenInterrupted(child)
  return new Promise((answered) => {
    child.once('message', (answer) => answered(answer as Answer))
    child.once('exit', (code, signal) => answered({ error: `its process ended with ${signal ?? code}` }))
    child.send(order)
  })
}

function wholeNumber(name: 'items' | 'seed'): number {
  if (!/^[1-9]\d{0,6}$/.test(values[name]))
    throw new Error(`--${name} takes a whole number from 1 to 9999999`)
  return Number(values[name])
}
