import { startFaultProxy } from '@referrer/chain/testing'
import { connect } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { migrations } from '../src/db/migrations.ts'
import { until } from '../src/workers/testing.ts'
import { call } from './calls.ts'
import { type ForkingChain, startForkingChain } from './forking-chain.ts'
import {
  chainTask,
  FINALITY,
  isCaughtUp,
  mirrorErrors,
  type RunningIndexer,
  runIndexer,
} from './marketplace.ts'
import { TRADERS } from './trade.ts'

const [owner] = TRADERS
let chain: ForkingChain
let database: TestDatabase
let indexer: RunningIndexer | undefined

beforeAll(async () => {
  chain = await startForkingChain(31_351, TRADERS)
})
afterAll(() => chain.close())
beforeEach(async () => {
  database = await freshDatabase(migrations)
})
afterEach(async () => {
  await stop()
  await database.drop()
})

const start = (urls = [chain.rpcUrl]) => {
  indexer = runIndexer(database.url, chainTask(chain, urls))
}
const stop = async () => {
  await indexer?.stop()
  indexer = undefined
}
const catchUp = () => until(() => isCaughtUp(database.sql, chain), 'the newest block')
const failure = (text: string) =>
  until(
    () => indexer?.status().error?.includes(text),
    `the failure "${text}", not "${indexer?.status().error}"`,
  )

function register(uri: string) {
  if (!owner) throw new Error('there is at least one trader')
  return call(chain, owner, 'IdentityRegistry', 'register', [uri])
}

test('a chain that is reorganised deeper than its finality is reported, and its tables stay as they are', async () => {
  await chain.send(register('a'))
  for (let count = 0; count < FINALITY + 4; count += 1) await chain.send(register(`b${count}`))
  start()
  await catchUp()
  const before = await database.sql`SELECT * FROM chain.identities ORDER BY agent_id`

  await chain.takeBack(FINALITY + 3)
  for (let count = 0; count < FINALITY + 6; count += 1) await chain.mine([], 7n)
  await failure('index it anew and raise its finalityDepth')
  expect(await database.sql`SELECT * FROM chain.identities ORDER BY agent_id`).toEqual(before)

  await stop()
  await database.sql`SELECT indexer.forget(${chain.chainId})`
  start()
  await catchUp()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])
})

test('nodes that are all dead for a while stop progress and nothing else', async () => {
  const node = await startFaultProxy({ target: chain.rpcUrl, random: () => 0 })
  start([node.url])
  await catchUp()
  node.setFaults({ http500: 1 })
  await chain.send(register('while the node is dead'))
  await failure('HTTP 500')
  node.setFaults({})
  await catchUp()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])
  await node.close()
})

test('a database that is away for a while stops progress and nothing else', async () => {
  start()
  await catchUp()
  const name = new URL(database.url).pathname.slice(1)
  const url = new URL(database.url)
  url.pathname = '/postgres'
  const admin = connect(url.href, { max: 1 })
  try {
    await admin`ALTER DATABASE ${admin(name)} ALLOW_CONNECTIONS false`
    await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`
    await chain.send(register('while the database is away'))
    await failure('not currently accepting connections')
  } finally {
    await admin`ALTER DATABASE ${admin(name)} ALLOW_CONNECTIONS true`
    await admin.end()
  }
  await catchUp()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])
})
