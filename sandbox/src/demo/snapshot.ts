// The demo market as it was made once: the transactions of its chain, and the records that no chain tells. What derives from these is
// derived anew at each start. All times are relative to the end of the history, which a start puts at its own moment.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Addresses } from '@referrer/contracts/deploy'
import type { Hex } from 'viem'
import { SHOPS } from '../shop/shops.ts'
import { type Ids, MERCHANTS, REVIEWERS, WALLETS } from './cast.ts'
import { DAYS, makePlan } from './plan.ts'

const FILE = fileURLToPath(new URL('snapshot.jsonl', import.meta.url))
export const DAY_SECONDS = 86_400
/** The contracts are deployed a day before the first day. */
export const HISTORY_MS = (DAYS + 1) * DAY_SECONDS * 1_000
/** Whatever is signed in the demo counts until then: the same bytes must hold whenever the history is moved to. */
export const FAR = 4_102_444_800
/** Stands for the address of the shops' server in the records. */
export const SHOP_URL = '{shop}'
export const MAKE = 'node scripts/run.mjs sandbox/src/make-demo.ts'

export interface Call {
  /** Seconds, below 0: before the end. */
  at: number
  /** The development account that sends it. */
  from: number
  to: keyof Addresses
  gas: number
  data: Hex
}

/** A row as Postgres makes JSON of it, its times as milliseconds before the end. */
export type Row = Record<string, unknown>

export interface Snapshot extends Ids {
  /** The digest of the plan that was played. */
  plan: string
  /** What was deployed: signatures of another deployment do not count. */
  contracts: Addresses
  calls: Call[]
  rows: Record<string, Row[]>
}

/** Of everything that the demo market is made from: who comes, what is sold, and what happens on each day. */
export function planDigest(): string {
  const plan = [makePlan(), REVIEWERS, MERCHANTS, WALLETS, SHOPS]
  const text = JSON.stringify(plan, (_, part) => (typeof part === 'bigint' ? String(part) : part))
  return createHash('sha256').update(text).digest('hex')
}

/** The first line of the file is what is neither; after it comes a line for each transaction, and one for each row. */
type Line = { call: Call } | { table: string; row: Row }

export function readSnapshot(): Snapshot {
  const [head = '', ...lines] = readFileSync(FILE, 'utf8').trimEnd().split('\n')
  const snapshot: Snapshot = { ...JSON.parse(head), calls: [], rows: {} }
  for (const text of lines) {
    const line: Line = JSON.parse(text)
    if ('call' in line) snapshot.calls.push(line.call)
    else {
      snapshot.rows[line.table] ??= []
      snapshot.rows[line.table]?.push(line.row)
    }
  }
  return snapshot
}

export function writeSnapshot({ calls, rows, ...head }: Snapshot): void {
  const lines: Line[] = calls.map((call) => ({ call }))
  for (const [table, all] of Object.entries(rows)) lines.push(...all.map((row) => ({ table, row })))
  writeFileSync(FILE, [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''))
}
