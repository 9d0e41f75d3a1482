import type { TestDatabase } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRpcPool } from '../rpc/index.ts'
import { eventually } from '../testing/eventually.ts'
import { startScriptedNode } from '../testing/scripted-node.ts'
import { applySums, replay, SumsBench, sumsDatabase, until } from '../testing/sums-bench.ts'
import { indexerHealth } from './store.ts'

let database: TestDatabase
let bench: SumsBench

beforeAll(async () => {
  database = await sumsDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  bench = await SumsBench.start(database)
})
afterEach(() => bench.close())

describe('an indexer in trouble', () => {
  it('applies a block as a whole or not at all, and tries again', async () => {
    bench.grow(8)
    let failures = 0
    const { of } = bench.index({
      async apply(tx, logs, isFinal) {
        await applySums(bench.chainId)(tx, logs)
        if (!isFinal && failures++ < 2) throw new Error('no luck')
      },
    })
    await bench.caughtUp()
    expect(of('failed').map(({ error }) => error.message)).toEqual(['no luck', 'no luck'])
    expect(of('failed').map(({ retryInMs }) => retryInMs)).toEqual([200, 400])
    expect(await bench.sums()).toEqual(replay(bench.chain))
  })

  it('goes on when its nodes come back, and tries less and less often meanwhile', async () => {
    bench.node.respond = () => ({ status: 502, body: '' })
    bench.grow(8)
    const { status, of } = bench.index()
    await until(() => of('failed').length === 3)
    expect(of('failed').map(({ retryInMs }) => retryInMs)).toEqual([200, 400, 800])
    expect(status().error).toContain('HTTP 502')
    bench.node.respond = () => undefined
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
    await until(() => status().error === null)
  })

  it('goes on with a node that has what was final, though another one has a longer chain without it', async () => {
    bench.grow(20)
    const wrong = bench.chain.fork(3)
    wrong.mineMany(200)
    const other = await startScriptedNode((call) => wrong.answer(call))
    try {
      const first = bench.index()
      await bench.caughtUp()
      await first.stop()
      const urls = [bench.node.url, other.url]
      const { of } = bench.index({ rpc: createRpcPool({ chainId: bench.chainId, urls }) })
      await until(() => of('failed').length > 0)
      expect(of('failed')[0]?.error.message).toContain('on a fork that left the others before block 15')
      for (let step = 0; step < 3; step += 1) {
        bench.grow(1)
        await bench.caughtUp()
      }
      expect(await bench.sums()).toEqual(replay(bench.chain))
    } finally {
      await other.close()
    }
  })

  it('resumes after the last block that was applied', async () => {
    bench.grow(12)
    const first = bench.index()
    await bench.caughtUp()
    await first.stop()
    bench.grow(20)
    const second = bench.index()
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
    await until(() => second.of('applied').length > 0)
    expect(second.of('applied')[0]?.from).toBe(13n)
    // What became final meanwhile is not remembered any longer.
    const [undo] = await database.sql<{ oldest: bigint }[]>`
      SELECT min(block_number) AS oldest FROM indexer.undo WHERE chain_id = ${bench.chainId}`
    expect(undo?.oldest).toBe(28n)
  })

  it('takes back what was reorganised while nobody looked', async () => {
    bench.grow(12)
    const first = bench.index()
    await bench.caughtUp()
    await first.stop()
    bench.chain = bench.chain.fork(9)
    bench.grow(5)
    bench.index()
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
  })

  it('is replaced by a waiting one when it loses its connection, and nothing is applied twice', async () => {
    bench.grow(12)
    const first = bench.index()
    await until(() => first.status().isActive)
    const second = bench.index()
    await bench.caughtUp()
    expect(second.status().isActive).toBe(false)
    await first.stop()
    await until(() => second.status().isActive)
    const third = bench.index()
    bench.grow(2)
    await database.sql`
      SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
        AND pid IN (SELECT pid FROM pg_stat_activity WHERE application_name = ${`indexer:${bench.chainId}`})`
    bench.grow(3)
    await bench.caughtUp()
    await until(() => [second, third].filter(({ status }) => status().isActive).length === 1)
    expect(await bench.sums()).toEqual(replay(bench.chain))
  })

  it('is in trouble no longer when it waits again while another one indexes', async () => {
    bench.grow(2)
    const first = bench.index()
    await until(() => first.status().isActive)
    const second = bench.index()
    const cutWaiting = async () => {
      const { count } = await database.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${`indexer:${bench.chainId}`}
          AND state = 'idle' AND query LIKE '%pg_try_advisory_lock%'
          AND pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted)`
      return count
    }
    await eventually(cutWaiting).toBe(1)
    await until(() => second.of('recovered').length === 1)
    expect(second.of('failed')).not.toEqual([])
    expect(second.status()).toMatchObject({ isActive: false, error: null })
  })

  it('tells how far it is to every replica, and how old that news is', async () => {
    const health = async () =>
      (await indexerHealth(database.sql)).find(({ chainId }) => chainId === bench.chainId)
    expect(await health()).toBeUndefined()
    bench.grow(9)
    const { stop } = bench.index()
    await bench.caughtUp()
    await stop()
    expect(await health()).toMatchObject({ head: 9n, indexed: 9n })
    await database.sql`
      UPDATE indexer.checkpoints SET head_number = 19, head_time = head_time + interval '20 s', seen_at = now() - interval '5 s'
      WHERE chain_id = ${bench.chainId}`
    const late = await health()
    expect(late).toMatchObject({ head: 19n, indexed: 9n })
    expect(late?.lagSeconds).toBeGreaterThanOrEqual(25)
  })
})
