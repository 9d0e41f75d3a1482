// Keeps shelves that answer, and has them follow the database for as long as it can be reached; while it cannot, they answer from memory.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Queryable, type Sql } from '@referrer/database'
import { type Backoff, backoffMs } from '../../machinery/workers/backoff.ts'
import { createCellKeeper } from './cells.ts'
import type { Standing, ThreadData } from './messages.ts'
import { countVectors, isSameModel, servingModel } from './records.ts'
import { Shelves } from './shelves.ts'

/** Whether another model serves, and how many vectors there are, is looked at every so many polls. */
const POLLS_TO_MODEL = 4
const POLLS_TO_VECTORS = 240
const BACKOFF: Backoff = { firstMs: 200, maxMs: 5_000 }

export interface Following {
  /** Undefined until all has been loaded once. */
  readonly shelves: Shelves | undefined
  /** Ends when the signal fires. */
  run(signal: AbortSignal): Promise<void>
}

export interface FollowingOptions extends ThreadData {
  onPolled(standing: Standing): void
  onFailed(error: unknown): void
}

export function createFollowing({
  databaseUrl,
  chainIds,
  configuredId,
  pollMs,
  onPolled,
  onFailed,
}: FollowingOptions): Following {
  let shelves: Shelves | undefined
  let loadSeconds = 0
  let vectors = new Map<number, number>()
  const cells = createCellKeeper(databaseUrl, onFailed)

  /** Loads everything, while what was loaded before answers, and follows the changes if `isLive`. */
  async function load(sql: Queryable, isLive: boolean, signal: AbortSignal): Promise<void> {
    const begun = performance.now()
    const model = await servingModel(sql, configuredId)
    let followedAt = begun
    shelves = await Shelves.load(sql, chainIds, model, async () => {
      signal.throwIfAborted()
      if (!isLive || performance.now() - followedAt < pollMs) return
      await shelves?.follow(sql)
      onPolled(standing())
      followedAt = performance.now()
    })
    loadSeconds = (performance.now() - begun) / 1_000
    await lookAtVectors(sql)
  }

  async function lookAtVectors(sql: Queryable): Promise<void> {
    if (!shelves) return
    vectors = await countVectors(sql, chainIds, shelves.model.embedderId)
    cells.look(shelves.model, vectors)
  }

  /** On one connection: what comes after it may be another server, with another past, and is read from the beginning. */
  async function follow(sql: Queryable, signal: AbortSignal): Promise<void> {
    await load(sql, false, signal)
    for (let poll = 1; !signal.aborted; poll += 1) {
      onPolled(standing())
      await sleep(pollMs, undefined, { signal }).catch(() => {})
      await shelves?.follow(sql)
      if (poll % POLLS_TO_MODEL === 0) await followModel(sql, signal)
      if (poll % POLLS_TO_VECTORS === 0) await lookAtVectors(sql)
    }
  }

  async function followModel(sql: Queryable, signal: AbortSignal): Promise<void> {
    const model = await servingModel(sql, configuredId)
    if (shelves && !isSameModel(model, shelves.model)) await load(sql, true, signal)
  }

  const standing = (): Standing => ({
    embedderId: shelves?.model.embedderId,
    loadSeconds,
    chains: (shelves?.sizes() ?? []).map((size) => ({ ...size, vectors: vectors.get(size.chainId) ?? 0 })),
  })

  async function onConnection(pool: Sql, signal: AbortSignal): Promise<void> {
    const session = await pool.reserve()
    try {
      await follow(session, signal)
    } finally {
      session.release()
    }
  }

  return {
    get shelves() {
      return shelves
    },
    async run(signal) {
      let failures = 0
      while (!signal.aborted) {
        // A pool of its own each time: none of its connections is known to be lost.
        const pool = connect(databaseUrl, { max: 1, name: 'referrer search' })
        const begun = performance.now()
        try {
          await onConnection(pool, signal)
        } catch (error) {
          if (signal.aborted) break
          if (performance.now() - begun > BACKOFF.maxMs) failures = 0
          failures += 1
          onFailed(error)
        } finally {
          await pool.end({ timeout: 0 }).catch(() => {})
        }
        await sleep(backoffMs(failures, BACKOFF, Math.random), undefined, { signal }).catch(() => {})
      }
      cells.stop()
    },
  }
}
