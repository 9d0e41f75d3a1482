import { setTimeout as sleep } from 'node:timers/promises'
import { type FaultProxy, type FaultRates, int, pick, seeded, seedOf } from '@referrer/chain/testing'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { type ForkingChain, SLOW_START_MS, startForkingChain } from '../forking-chain.ts'
import { type IndexerChild, type Said, startIndexerChild } from '../indexer-child.ts'
import {
  FINALITY,
  isCaughtUp,
  mineUntilFinal,
  mirrorErrors,
  recordErrors,
  startNodes,
  taskOf,
  undoOfFinalBlocks,
} from '../marketplace.ts'
import { DEEPEST, FORK_KINDS, reorganise } from '../reorganise.ts'
import { readEvents } from '../replay.ts'
import { randomCalls, TRADERS } from '../trade.ts'

const ROUNDS = Number(process.env.TORTURE_ROUNDS ?? 1)
const DAY = 86_400n
const TIMEOUT_MS = 60_000
/** Fault rates, so that two nodes fail in different ways. */
const FAULTS: FaultRates[] = [
  { delay: 0.2, lag: 0.2, lieAboutLatest: 0.1 },
  { reset: 0.1, http500: 0.1, garbage: 0.1, loseAnswer: 0.05 },
  { rateLimit: 0.1, rangeTooLarge: 0.7, truncateLogs: 0.3, hang: 0.01 },
  { lag: 0.4, truncateLogs: 0.2, reset: 0.05 },
  { lieAboutLatest: 0.5, rangeTooLarge: 0.3, delay: 0.1 },
  { hang: 0.02, rateLimit: 0.05, garbage: 0.05, lag: 0.1, lieAboutLatest: 0.1 },
]

const seed = seedOf()
const random = seeded(seed)
/** Pledged from the start, so that the time of indexing does not matter. */
const cashbackOf = (agentId: bigint) => Number((agentId * 37n) % 4_000n)

let database: TestDatabase
let chains: { chain: ForkingChain; nodes: FaultProxy[] }[]
let indexer: IndexerChild | undefined
const said: Said[] = []

beforeAll(async () => {
  console.log(`torture of the indexer: SEED=${seed}`)
  database = await freshDatabase(migrations)
  chains = await Promise.all(
    [31_337, 31_338].map(async (chainId) => {
      const chain = await startForkingChain(chainId, TRADERS)
      return { chain, nodes: await startNodes(chain, seed + chainId) }
    }),
  )
  for (const { chain } of chains)
    await database.sql`
      INSERT INTO market.cashback_rates (chain_id, agent_id, bps)
      SELECT ${chain.chainId}, id, id * 37 % 4000 FROM generate_series(0, 5000) AS id`
}, SLOW_START_MS)

afterAll(async () => {
  await indexer?.kill()
  await Promise.all((chains ?? []).flatMap(({ chain, nodes }) => [chain, ...nodes].map((one) => one.close())))
  await database?.drop()
})

const start = async () => {
  const urls = ({ nodes }: { nodes: FaultProxy[] }) => nodes.map(({ url }) => url)
  const task = taskOf(
    database.url,
    chains.map((one) => ({ chain: one.chain, urls: urls(one) })),
  )
  const before = said.length
  indexer = await startIndexerChild(task, said)
  await until(() => said.length > before, 'a sign of life of the indexer', TIMEOUT_MS)
}

const crash = async () => {
  await indexer?.kill()
  indexer = undefined
}

async function trade(chain: ForkingChain): Promise<void> {
  const later = random() < 0.06 ? pick(random, [61n, 11n]) * DAY : BigInt(int(random, 1, 15))
  const calls = await randomCalls(chain, random, int(random, 0, 4), chain.head().timestamp + later)
  await chain.mine(await chain.sign(calls), later)
}

const pause = () => sleep(int(random, 0, 120))

/** A fork tests more if the indexer has seen its beginning: mostly it gets the time to catch up. */
async function letItSee(chain: ForkingChain): Promise<void> {
  if (random() < 0.2) return
  const giveUp = Date.now() + 2_500
  while (Date.now() < giveUp && !(await isCaughtUp(database.sql, chain))) await sleep(20)
}

/** The actions of a round, in random order: enough of every kind with any seed. */
function plan(): (() => Promise<void>)[] {
  const anyChain = () => pick(random, chains)
  const trading = async () => {
    await trade(anyChain().chain)
    await sleep(int(random, 0, 20))
  }
  const fork = async (depth = random() < 0.5 ? int(random, 1, 3) : int(random, 4, DEEPEST)) => {
    const { chain } = anyChain()
    await letItSee(chain)
    const taken = await reorganise(chain, random, pick(random, FORK_KINDS), depth, pause)
    counts.forks += taken ? 1 : 0
    counts.deepest = Math.max(counts.deepest, taken)
  }
  const weather = async () => {
    for (const { nodes } of chains) for (const node of nodes) node.setFaults(pick(random, FAULTS))
  }
  const restart = async () => {
    await crash()
    counts.crashes += 1
    await start()
  }
  const crashInFork = async () => {
    const { chain } = anyChain()
    await letItSee(chain)
    const [forked] = await Promise.all([
      reorganise(chain, random, pick(random, FORK_KINDS), int(random, 4, DEEPEST), pause),
      pause().then(restart),
    ])
    counts.forks += forked ? 1 : 0
  }
  const longDeath = async () => {
    await crash()
    counts.crashes += 1
    for (const { chain } of chains)
      for (let count = int(random, FINALITY + 4, FINALITY + 14); count > 0; count -= 1) await trade(chain)
    await start()
  }
  const many = (count: number, what: () => Promise<void>) => Array.from({ length: count }, () => what)
  const steps = [
    ...many(100, trading),
    ...many(14, () => fork()),
    ...many(2, () => fork(DEEPEST)),
    ...many(20, weather),
    ...many(2, restart),
    ...many(3, crashInFork),
    ...many(2, longDeath),
  ]
  return steps
    .map((step) => ({ step, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ step }) => step)
}

const numbers = new Map<string, bigint>()

/** A review keeps its internal id wherever forks move it. */
async function checkNumbers(): Promise<void> {
  const records = await database.sql<{ key: string; number: bigint }[]>`
    SELECT concat_ws('/', chain_id, proof_kind, proof_id, encode(published_hash, 'hex')) AS key, internal_id AS number
    FROM market.reviews`
  for (const { key, number } of records) {
    expect(`${key} is number ${number}`).toBe(`${key} is number ${numbers.get(key) ?? number}`)
    numbers.set(key, number)
  }
}

const counts = { forks: 0, deepest: 0, crashes: 0 }

async function catchUp(): Promise<void> {
  for (const { chain } of chains)
    await until(
      () => isCaughtUp(database.sql, chain),
      `block ${chain.head().number} of chain ${chain.chainId}; last said: ${JSON.stringify(said.slice(-5))}`,
      TIMEOUT_MS,
    )
}

test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
  `round %i: whatever chains, nodes and crashes do, every table equals a plain replay of the final chains (SEED=${seed})`,
  async () => {
    if (!indexer) await start()
    for (const step of plan()) {
      await step()
      await checkNumbers()
    }

    for (const { nodes } of chains) for (const node of nodes) node.setFaults({})
    await catchUp()
    for (const { chain } of chains) expect(await mirrorErrors(database.sql, chain)).toEqual([])

    for (const { chain } of chains) await mineUntilFinal(chain)
    await catchUp()
    for (const { chain } of chains) {
      expect(await mirrorErrors(database.sql, chain)).toEqual([])
      expect(await recordErrors(database.sql, chain, cashbackOf)).toEqual([])
      expect(await undoOfFinalBlocks(database.sql, chain.chainId)).toEqual([])
    }
    console.log(await summary())
  },
  300_000,
)

/** Prints what happened, as evidence that the test did something. */
async function summary(): Promise<string> {
  const events = await Promise.all(
    chains.map(({ chain }) => readEvents(chain.market, 0n, chain.head().number)),
  )
  const tally = (names: string[]) =>
    Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]))
  return JSON.stringify({
    seed,
    ...counts,
    rolledBack: said.filter(({ type }) => type === 'rolled-back').length,
    ranges: said.filter(({ isFinal }) => isFinal).length,
    failures: said.filter(({ type }) => type === 'failed').length,
    heights: chains.map(({ chain }) => Number(chain.head().number)),
    faults: tally(
      chains.flatMap(({ nodes }) =>
        nodes.flatMap((node) =>
          Object.entries(node.counts).flatMap(([name, count]) => Array(count).fill(name)),
        ),
      ),
    ),
    events: tally(events.flat().map(({ eventName }) => eventName)),
  })
}
