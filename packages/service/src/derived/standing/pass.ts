import type { Transaction } from '@referrer/database'
import { readSpending } from './spending.ts'
import { forgetStandings, insertPass, type Pass, verifiedShops, writeOwners, writeShops } from './store.ts'
import { type WalkOptions, walk } from './walk.ts'

/** What a pass rests on. */
export type Ground = Pick<Pass, 'pass' | 'day' | 'as_of_block' | 'verification_id' | 'computed_at'>

/** How long each part took, in milliseconds. */
export interface Durations {
  readMs: number
  walkMs: number
  writeMs: number
}

export interface PassOptions extends WalkOptions {
  onPass?: (pass: Pass, durations: Durations) => void
}

/** A pass of a large market takes longer than the time-outs of the pool allow, and its sorting needs more memory. */
const SETTINGS = `
  SELECT set_config('statement_timeout', '10min', true), set_config('idle_in_transaction_session_timeout', '15min', true),
    set_config('work_mem', '256MB', true)`

/** Computes the standings of a chain and writes them with the row of the pass, in the caller's transaction. */
export async function makePass(
  tx: Transaction,
  chainId: number,
  ground: Ground,
  { onPass, ...options }: PassOptions = {},
): Promise<void> {
  const begun = performance.now()
  await tx.unsafe(SETTINGS)
  const verified = await verifiedShops(tx, chainId)
  const { owners, shops, ...durations } =
    verified.length > 0
      ? await compute(tx, chainId, ground.day, verified, options)
      : await nothing(tx, chainId)
  const pass = { ...ground, verified: verified.length, owners, shops, took_ms: performance.now() - begun }
  await insertPass(tx, chainId, pass)
  onPass?.(pass, durations)
}

type Computed = Durations & Pick<Pass, 'owners' | 'shops'>

/** Without a verified shop everything counts in full. */
async function nothing(tx: Transaction, chainId: number): Promise<Computed> {
  await forgetStandings(tx, chainId)
  return { owners: 0, shops: 0, readMs: 0, walkMs: 0, writeMs: 0 }
}

async function compute(
  tx: Transaction,
  chainId: number,
  day: number,
  verified: readonly bigint[],
  options: WalkOptions,
): Promise<Computed> {
  const times = [performance.now()]
  const { spending, owners, shops } = await readSpending(tx, chainId, day, verified)
  times.push(performance.now())
  const standing = await walk(spending, options)
  times.push(performance.now())
  await writeOwners(tx, chainId, owners, standing.owners)
  await writeShops(tx, chainId, shops, standing.shops, verified.length)
  times.push(performance.now())
  const [readMs = 0, walkMs = 0, writeMs = 0] = times.slice(1).map((at, part) => at - (times[part] ?? 0))
  return { owners: standing.owners.length, shops: shops.length, readMs, walkMs, writeMs }
}
