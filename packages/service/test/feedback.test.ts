// How feedback of the reputation registry gets into the records, on a chain that is reorganised.
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type LocalAccount, zeroHash } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createEventReader } from '../src/kit/events.ts'
import { migrations } from '../src/machinery/db/migrations.ts'
import { until } from '../src/machinery/workers/testing.ts'
import { applyFeedbackEvents, KEPT_OF_AGENT, KEPT_OF_CLIENT } from '../src/market/feedback/mirror.ts'
import { call } from './calls.ts'
import { type ForkingChain, SLOW_START_MS, startForkingChain } from './forking-chain.ts'
import { chainTask, isCaughtUp, mineUntilFinal, type RunningIndexer, runIndexer } from './marketplace.ts'
import { rowsOf } from './tables.ts'
import { TRADERS } from './trade.ts'

const CHAIN_ID = 31_362
const AGENT = 0n
const [owner, client] = TRADERS as [LocalAccount, LocalAccount]
const TIMEOUT_MS = 60_000
vi.setConfig({ testTimeout: 180_000 })

let chain: ForkingChain
let database: TestDatabase
let indexer: RunningIndexer | undefined

beforeAll(async () => {
  chain = await startForkingChain(CHAIN_ID, TRADERS)
  await chain.send(call(chain, owner, 'IdentityRegistry', 'register', []))
}, SLOW_START_MS)
afterAll(() => chain?.close())

beforeEach(async () => {
  database = await freshDatabase(migrations)
  indexer = runIndexer(database.url, chainTask(chain, [chain.rpcUrl]))
})
afterEach(async () => {
  await indexer?.stop()
  await database.drop()
})

const catchUp = () => until(() => isCaughtUp(database.sql, chain), 'the newest block', TIMEOUT_MS)

const give = (value: bigint, tag1 = 'referrer') =>
  call(chain, client, 'ReputationRegistry', 'giveFeedback', [
    AGENT,
    value,
    0,
    tag1,
    '',
    'https://shop.test',
    'https://market.test/1',
    zeroHash,
  ])
const revoke = (index: bigint) => call(chain, client, 'ReputationRegistry', 'revokeFeedback', [AGENT, index])

const kept = async () =>
  (await rowsOf(database.sql, 'chain.feedback', CHAIN_ID))
    .map(({ feedback_index, value, is_revoked }) => [feedback_index, Number(value), is_revoked])
    .sort((a, b) => Number(a[0]) - Number(b[0]))
const counted = async () => {
  const [row] = await rowsOf(database.sql, 'chain.feedback_counts', CHAIN_ID)
  return row && [row.given, row.revoked]
}

test('feedback and what was revoked follow the chain through reorganisations', async () => {
  await chain.send(give(75n), give(-25n), revoke(1n))
  await catchUp()
  expect(await kept()).toEqual([
    [1n, 75, true],
    [2n, -25, false],
  ])
  expect(await counted()).toEqual([2n, 1n])

  await chain.takeBack(2)
  await chain.send(give(50n))
  await chain.mine([], 2n)
  await catchUp()
  expect(await kept()).toEqual([
    [1n, 75, false],
    [2n, 50, false],
  ])
  expect(await counted()).toEqual([2n, 0n])

  await chain.takeBack(3)
  await chain.mine([], 2n)
  await mineUntilFinal(chain)
  await catchUp()
  expect(await kept()).toEqual([])
  expect(await counted()).toBeUndefined()
})

test('texts that strangers made long or broken are cut, and do not stop the indexer', async () => {
  await chain.send(give(1n, `${'a'.repeat(63)}😀${'b'.repeat(300)}`), give(1n, 'zero\0zero'))
  await catchUp()
  const [long, zero] = await database.sql<{ tag1: string }[]>`
    SELECT tag1 FROM chain.feedback ORDER BY feedback_index`
  expect(long?.tag1).toBe(`${'a'.repeat(63)}\ufffd`)
  expect(zero?.tag1).toBe('zerozero')
  await chain.takeBack(2)
  await chain.mine([], 2n)
})

test('only the newest of a client and of an agent are kept, and all are counted', async () => {
  type Events = Parameters<typeof applyFeedbackEvents>[2]
  const { sql } = database
  const event = (by: number, index: number, block: number) => ({
    name: 'NewFeedback',
    blockNumber: BigInt(block),
    logIndex: by,
    timestamp: BigInt(block),
    args: {
      agentId: AGENT,
      clientAddress: `0x${by.toString(16).padStart(40, '0')}`,
      feedbackIndex: BigInt(index),
      value: 1n,
      valueDecimals: 0,
      tag1: '',
      tag2: '',
      endpoint: '',
      feedbackURI: '',
      feedbackHash: zeroHash,
    },
  })
  const apply = (events: object[]) =>
    sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', 'final', true)`
      await applyFeedbackEvents(tx, CHAIN_ID, events as unknown as Events)
    })
  const rows = async () =>
    sql<{ client: Buffer; feedback_index: bigint }[]>`SELECT client, feedback_index FROM chain.feedback`

  // One client, in many batches and in one large one.
  for (let index = 1; index <= KEPT_OF_CLIENT + 3; index += 1) await apply([event(1, index, index)])
  await apply(Array.from({ length: 1_000 }, (_, at) => event(1, KEPT_OF_CLIENT + 4 + at, 100 + at)))
  expect((await rows()).map(({ feedback_index }) => feedback_index).sort()).toEqual(
    Array.from({ length: KEPT_OF_CLIENT }, (_, at) => BigInt(1_000 + 4 + at)).sort(),
  )

  // Many clients.
  const clients = KEPT_OF_AGENT + 40
  await apply(Array.from({ length: clients }, (_, at) => event(at + 2, 1, 2_000 + at)))
  await apply([event(9_999, 1, 9_999)])
  const left = await rows()
  expect(left).toHaveLength(KEPT_OF_AGENT)
  expect(left.some(({ client }) => client.at(-1) === 1 && client.at(-2) === 0)).toBe(false)
  expect(await counted()).toEqual([BigInt(KEPT_OF_CLIENT + 3 + 1_000 + clients + 1), 0n])

  // What another contract in its place may emit.
  const huge = event(9_999, 1, 10_001)
  await apply([
    event(9_999, 1, 10_000),
    event(9_999, 1, 10_000),
    { ...huge, args: { ...huge.args, agentId: 2n ** 200n } },
    { ...huge, args: { ...huge.args, feedbackIndex: 2n ** 64n - 1n } },
  ])
  expect(await rows()).toHaveLength(KEPT_OF_AGENT)
})

test('an event of the reputation registry that cannot be read is left out, and one of a contract of ours is not', () => {
  const { CommissionEscrow, SplitRouter, ...single } = chain.market.addresses
  const contracts = { ...single, CommissionEscrow: [CommissionEscrow], SplitRouter: [SplitRouter] }
  const reader = createEventReader(contracts)
  const broken = (address: string | undefined, topic: string | undefined) =>
    [{ address, topics: [topic], data: '0x', blockNumber: 1n, logIndex: 0 }] as never
  const { events } = reader.filter
  for (const topic of events) expect(reader.decode(broken(single.ReputationRegistry, topic))).toEqual([])
  expect(() => events.map((topic) => reader.decode(broken(single.ReviewRegistry, topic)))).toThrow(
    'is this contract',
  )
})
