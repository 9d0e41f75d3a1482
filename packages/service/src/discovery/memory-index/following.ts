// Keeps catalogues loaded and up to date with the database. While the database cannot be reached, they answer from
// memory.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Sql } from '@referrer/database'
import { type Backoff, backoffMs } from '../../machinery/workers/backoff.ts'
import { Catalogues } from './catalogues.ts'
import { createCellKeeper } from './cells.ts'
import type { Standing, ThreadData } from './messages.ts'
import { countVectors, isSameModel, servingModel } from './records.ts'

/** The serving model and the number of vectors are checked once in this many polls. */
const POLLS_TO_MODEL = 4
const POLLS_TO_VECTORS = 240
const POLLS_TO_SNAPSHOT = 240
const BACKOFF: Backoff = { firstMs: 200, maxMs: 5_000 }

export interface Following {
  /**
   * The catalogues with the vectors of this model; the present ones if there are none. Undefined until everything has
   * been loaded once.
   */
  cataloguesOf(embedderId: string | undefined): Catalogues | undefined
  /** Ends when the signal is aborted. */
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
  snapshotFrom,
  onPolled,
  onFailed,
}: FollowingOptions): Following {
  let catalogues: Catalogues | undefined
  /** Those of the model before, for questions that were embedded before the new model was announced. */
  let former: Catalogues | undefined
  let loadSeconds = 0
  let vectors = new Map<number, number>()
  /** New cells are being chosen: then everything will be loaded again. */
  let areCellsDue = false
  let pollsToSnapshot = 1
  const cells = createCellKeeper(databaseUrl, onFailed)

  /** Loads everything again, while the former catalogues keep answering; with `isLive` these still follow changes. */
  async function load(sql: Sql, isLive: boolean, signal: AbortSignal): Promise<void> {
    const begun = performance.now()
    const model = await servingModel(sql, configuredId)
    let followedAt = begun
    const meanwhile = async () => {
      signal.throwIfAborted()
      if (!isLive || performance.now() - followedAt < pollMs) return
      await catalogues?.follow(sql)
      onPolled(standing())
      followedAt = performance.now()
    }
    const loaded = await Catalogues.load(sql, chainIds, model, { meanwhile, onUnreadable: onFailed })
    former = catalogues
    catalogues = loaded
    loadSeconds = (performance.now() - begun) / 1_000
    onPolled(standing())
    await lookAtVectors(sql)
    pollsToSnapshot = 1
  }

  async function lookAtVectors(sql: Sql): Promise<void> {
    if (!catalogues) return
    vectors = await countVectors(sql, chainIds, catalogues.model.embedderId)
    areCellsDue = cells.look(catalogues.model, vectors)
  }

  /** It is written between two polls, so that nothing changes meanwhile. */
  async function keepSnapshot(sql: Sql, signal: AbortSignal): Promise<void> {
    pollsToSnapshot -= 1
    if (pollsToSnapshot > 0 || areCellsDue) return
    pollsToSnapshot = POLLS_TO_SNAPSHOT
    try {
      await catalogues?.keep(sql, snapshotFrom, signal)
    } catch (error) {
      if (signal.aborted) return
      // Only the next start takes longer. It is not tried again on this connection: it would fail again.
      pollsToSnapshot = Number.POSITIVE_INFINITY
      onFailed(
        new Error('the snapshot of the search index cannot be written; a restart will load all products', {
          cause: error,
        }),
      )
    }
  }

  /**
   * Uses one connection only. A new connection may lead to another server with another history, so it starts with a
   * full load.
   */
  async function follow(sql: Sql, signal: AbortSignal): Promise<void> {
    await load(sql, false, signal)
    for (let poll = 1; !signal.aborted; poll += 1) {
      onPolled(standing())
      await sleep(pollMs, undefined, { signal }).catch(() => {})
      former = undefined
      await catalogues?.follow(sql)
      if (poll % POLLS_TO_MODEL === 0) await followModel(sql, signal)
      if (poll % POLLS_TO_VECTORS === 0) await lookAtVectors(sql)
      await keepSnapshot(sql, signal)
    }
  }

  async function followModel(sql: Sql, signal: AbortSignal): Promise<void> {
    const model = await servingModel(sql, configuredId)
    if (catalogues && !isSameModel(model, catalogues.model)) await load(sql, true, signal)
  }

  const standing = (): Standing => ({
    embedderId: catalogues?.model.embedderId,
    loadSeconds,
    chains: (catalogues?.sizes() ?? []).map((size) => ({ ...size, vectors: vectors.get(size.chainId) ?? 0 })),
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
    cataloguesOf: (embedderId) =>
      [catalogues, former].find((each) => each?.model.embedderId === embedderId) ?? catalogues,
    async run(signal) {
      let failures = 0
      while (!signal.aborted) {
        // A new pool for each connection, because a pool could hand out a connection that is lost.
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
