import { int, seeded, seedOf } from '@referrer/chain/testing'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { type ForkingChain, SLOW_START_MS, startForkingChain } from '../forking-chain.ts'
import { type IndexerChild, startIndexerChild } from '../indexer-child.ts'
import { isCaughtUp, mineUntilFinal, mirrorErrors, recordErrors, taskOf } from '../marketplace.ts'
import { randomCalls, TRADERS } from '../trade.ts'

const CHAIN_ID = 31_341
const TIMEOUT_MS = 60_000

const seed = seedOf()
const random = seeded(seed)
let chain: ForkingChain
let database: TestDatabase
let replicas: IndexerChild[]

beforeAll(async () => {
  console.log(`replicas: SEED=${seed}`)
  chain = await startForkingChain(CHAIN_ID, TRADERS)
}, SLOW_START_MS)
afterAll(() => chain?.close())

beforeEach(async () => {
  database = await freshDatabase(migrations)
  replicas = await Promise.all([start(), start()])
})
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.kill()))
  await database.drop()
})

const start = () => startIndexerChild(taskOf(database.url, [{ chain, urls: [chain.rpcUrl] }]))

async function trade(blocks: number): Promise<void> {
  for (let count = 0; count < blocks; count += 1) {
    const calls = await randomCalls(chain, random, int(random, 1, 3), chain.head().timestamp + 2n)
    await chain.mine(await chain.sign(calls), 2n)
  }
}

const catchUp = () => until(() => isCaughtUp(database.sql, chain), 'the newest block', TIMEOUT_MS)

/** The running process that reports to be active. */
const active = () =>
  until(
    () => replicas.find(({ said }) => said.some(({ type }) => type === 'active')),
    'an active replica',
    TIMEOUT_MS,
  )

/** Connections that hold the lock of the chain. */
const holders = () => database.sql<{ pid: number }[]>`
  SELECT l.pid FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
  WHERE l.locktype = 'advisory' AND l.granted AND a.application_name = ${`indexer:${CHAIN_ID}`}
    AND a.datname = current_database()`

async function expectEqualToReplay(): Promise<void> {
  await catchUp()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])
  await mineUntilFinal(chain)
  await catchUp()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])
  expect(await recordErrors(database.sql, chain)).toEqual([])
  // A process that has lost the leadership notices it before the tables refuse its writes.
  const failures = replicas.flatMap(({ said }) => said.flatMap(({ error }) => error ?? []))
  expect(failures.filter((error) => error.includes('duplicate key'))).toEqual([])
}

test('of two replicas one indexes; when it is killed the other takes over, and nothing is lost or doubled', async () => {
  for (let takeovers = 0; takeovers < 3; takeovers += 1) {
    const working = await active()
    await trade(3)
    expect(await holders()).toHaveLength(1)
    const idle = replicas.filter((replica) => replica !== working)
    expect(idle.flatMap(({ said }) => said)).toEqual([])

    await Promise.all([working.kill(), trade(4)])
    replicas = [...idle, await start()]
    await active()
    await catchUp()
  }
  await expectEqualToReplay()
}, 240_000)

test('an active replica that loses its database connection in the middle of its work applies nothing twice and goes on', async () => {
  await active()
  for (let cuts = 0; cuts < 12; cuts += 1) {
    await trade(int(random, 1, 3))
    for (const { pid } of await holders()) await database.sql`SELECT pg_terminate_backend(${pid})`
  }
  await expectEqualToReplay()
}, 240_000)
