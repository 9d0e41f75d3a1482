import type { TestDatabase } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import { add, applySums, FINALITY, replay, SumsBench, sumsDatabase, until } from '../testing/sums-bench.ts'
import { DeepReorganisationError } from './follow.ts'
import { forgetChain } from './store.ts'

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

describe('an indexer', () => {
  it('reads what is final in ranges, then block by block, and remembers only what may be taken back', async () => {
    bench.grow(30)
    const { of } = bench.index()
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
    await until(() => of('applied').length === 2)
    expect(of('applied').map(({ from, to, isFinal }) => [from, to, isFinal])).toEqual([
      [0n, 25n, true],
      [26n, 30n, false],
    ])
    const memory = await database.sql<{ oldest: bigint }[]>`
      SELECT min(block_number) AS oldest FROM indexer.undo WHERE chain_id = ${bench.chainId}`
    expect(memory[0]?.oldest).toBe(26n)
  })

  it('follows the head as it grows and calls blocks final once they are deep enough', async () => {
    const finals: bigint[] = []
    bench.grow(3)
    bench.index({ finalized: async (_tx, number) => void finals.push(number) })
    for (let step = 0; step < 8; step += 1) {
      bench.grow(1)
      await bench.caughtUp()
    }
    expect(await bench.sums()).toEqual(replay(bench.chain))
    expect(finals.at(-1)).toBe(BigInt(bench.chain.head.number) - BigInt(FINALITY))
    expect(finals).toEqual([...new Set(finals)].sort((a, b) => Number(a - b)))
    const blocks = await database.sql<{ number: bigint }[]>`
      SELECT number FROM indexer.blocks WHERE chain_id = ${bench.chainId} ORDER BY number`
    expect(blocks.map(({ number }) => number)).toEqual([6n, 7n, 8n, 9n, 10n, 11n])
  })

  it.each([1, 2, FINALITY])('follows a reorganisation that is %i deep', async (depth) => {
    bench.grow(12)
    const { of } = bench.index()
    await bench.caughtUp()
    const ancestor = 12 - depth
    bench.chain = bench.chain.fork(ancestor)
    bench.chain.mine(add(0, 0), add(9, 9))
    bench.grow(depth)
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
    expect(of('rolled-back')).toEqual([{ type: 'rolled-back', from: 12n, to: BigInt(ancestor) }])
  })

  it('starts over when the chain is reorganised from its first block and nothing was final', async () => {
    bench.grow(3)
    const { of } = bench.index({ startBlock: 1n })
    await bench.caughtUp()
    bench.chain = bench.chain.fork(0)
    bench.chain.mine(add(7, 7))
    bench.grow(3)
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
    expect(of('rolled-back')).toEqual([{ type: 'rolled-back', from: 3n, to: null }])
  })

  it('leaves what was final alone when the chain contradicts it, and says what to do', async () => {
    bench.grow(12)
    const old = bench.chain
    const { status, of } = bench.index()
    await bench.caughtUp()
    const before = await bench.sums()
    bench.chain = bench.chain.fork(6)
    bench.grow(9)
    await until(() => of('failed').length > 0)
    expect(of('failed')[0]?.error).toBeInstanceOf(DeepReorganisationError)
    expect(status().error).toContain('even at block 7, which was final')
    expect(await bench.sums()).toEqual(before)
    bench.chain = old
    bench.grow(2)
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
    await until(() => status().error === null)
  })

  it('waits for a first block that is not there yet, and applies nothing older', async () => {
    bench.grow(4)
    const { status, of } = bench.index({ startBlock: 8n })
    await until(() => of('caught-up').length > 2)
    expect(status()).toEqual({ isActive: true, head: 4n, indexed: null, error: null })
    expect(await bench.indexed()).toBeUndefined()
    bench.grow(6)
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain, 8))
  })
})

describe('a chain that is forgotten while it is being indexed', () => {
  const waiting = async () => {
    const [row] = await database.sql<{ count: number }[]>`
      SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return row?.count
  }

  it('is read anew, also when a block was half written and none comes after it', async () => {
    bench.grow(10)
    const written = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const apply = applySums(bench.chainId)
    bench.index({
      async apply(tx, logs) {
        await apply(tx, logs)
        if (logs[0]?.blockNumber !== 11n) return
        written.resolve()
        await gate.promise
      },
    })
    await bench.caughtUp()
    bench.chain.mine(add(9, 9))
    await written.promise
    const forgotten = forgetChain(database.sql, bench.chainId)
    await eventually(waiting).toBe(1)
    gate.resolve()
    await forgotten
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
  })
})

describe('a head that is not longer than what was indexed', () => {
  const polls = () => bench.node.requests.flat().filter(({ params }) => params?.[0] === 'latest').length
  /** Lets the node answer so many questions for the newest block. */
  const letPoll = (count: number) => {
    const enough = polls() + count
    return until(() => polls() > enough)
  }

  it('on a fork is followed only when it stays', async () => {
    bench.grow(10)
    const { of } = bench.index()
    await bench.caughtUp()
    const ours = bench.chain
    const fork = bench.chain.fork(8)
    fork.mine(add(5, 5))
    fork.mine(add(6, 6))
    // Twice the fork, then our chain again: doubts must not add up over time.
    let asked = 0
    bench.node.answer = (call) => {
      if (call.params?.[0] === 'latest') bench.chain = ++asked % 3 === 0 ? ours : fork
      return bench.chain.answer(call)
    }
    await until(() => asked >= 12)
    expect(of('rolled-back')).toEqual([])
    bench.node.answer = (call) => bench.chain.answer(call)
    bench.chain = fork
    await bench.caughtUp()
    expect(of('rolled-back')).toEqual([{ type: 'rolled-back', from: 10n, to: 8n }])
    expect(await bench.sums()).toEqual(replay(fork))
  })

  it('on a shorter fork is followed when it stays', async () => {
    bench.grow(10)
    bench.index()
    await bench.caughtUp()
    bench.chain = bench.chain.fork(7)
    bench.chain.mine(add(5, 5))
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
    bench.grow(4)
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
  })

  it('on our own chain changes nothing, however far it goes back', async () => {
    bench.grow(12)
    const { of } = bench.index()
    await bench.caughtUp()
    const whole = bench.chain
    const before = await bench.sums()
    for (const newest of [11, 9, 3]) {
      bench.chain = whole.fork(newest)
      await letPoll(5)
      expect(await bench.sums()).toEqual(before)
    }
    expect(of('rolled-back')).toEqual([])
    bench.chain = whole
    bench.grow(2)
    await bench.caughtUp()
    expect(await bench.sums()).toEqual(replay(bench.chain))
  })
})
