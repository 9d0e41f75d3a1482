import { startFaultProxy } from '@referrer/chain/testing'
import type { Addresses } from '@referrer/contracts/deploy'
import { signPurchase } from '@referrer/contracts/local'
import { connect } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { Attribution } from '@referrer/protocol'
import { type Hex, type LocalAccount, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { migrations } from '../src/db/migrations.ts'
import { until } from '../src/workers/testing.ts'
import { call, settle } from './calls.ts'
import { type Call, type ForkingChain, startForkingChain } from './forking-chain.ts'
import {
  chainTask,
  FINALITY,
  isCaughtUp,
  mineUntilFinal,
  mirrorErrors,
  type RunningIndexer,
  runIndexer,
} from './marketplace.ts'
import { deploySuccessors } from './replaced-contracts.ts'
import { TRADERS } from './trade.ts'

const [owner, buyer] = TRADERS as [LocalAccount, LocalAccount]
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

const register = (uri: string) => call(chain, owner, 'IdentityRegistry', 'register', [uri])

const bytes = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')

/** Registers one and returns its number. */
async function identity(): Promise<bigint> {
  await chain.send(register(''))
  return BigInt(chain.world().identities.length - 1)
}

/** One purchase through each of these routers. */
async function purchases(merchantId: bigint, reviewerAgentId: bigint, routers: Addresses[]): Promise<Call[]> {
  const productId = numberToHex(1, { size: 32 })
  await chain.send(
    call(chain, owner, 'MerchantRegistry', 'setActive', [merchantId, true]),
    call(chain, owner, 'MerchantRegistry', 'listProduct', [merchantId, productId, 1_000, 0n, 0, '']),
  )
  const attribution = {
    ...{ merchantId, productId, reviewId: 0n, reviewerAgentId, buyerAgentId: Attribution.AGENTLESS_BUYER_ID },
    ...{ cashbackOfCommissionBps: 1_000, commissionMultiplierBps: 10_000 },
  }
  return Promise.all(
    routers.map(async (addresses, at) => {
      const through = { ...chain, market: { ...chain.market, addresses } }
      const salt = numberToHex(at, { size: 32 })
      const purchase = await signPurchase(through.market, buyer, { value: 1_000_000n, salt, attribution })
      return settle(through, [purchase])
    }),
  )
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

test('a block with more logs than a node gives is read as a whole, now and when it is final', async () => {
  const node = await startFaultProxy({
    target: chain.rpcUrl,
    random: () => 0,
    faults: { truncateLogs: 1 },
  })
  const urls = [node.url, chain.rpcUrl]
  start(urls)
  await catchUp()
  // Each logs three events that are followed.
  const calls = Array.from({ length: 40 }, () => ({ ...register(''), gas: 300_000n }))
  await chain.mine(await chain.sign(calls))
  await catchUp()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])

  await stop()
  await mineUntilFinal(chain)
  await database.sql`SELECT indexer.forget(${chain.chainId})`
  start(urls)
  await catchUp()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])
  expect(node.counts.truncateLogs).toBeGreaterThan(0)
  await node.close()
})

test('a contract that was replaced and is not configured stops the indexer with the remedy, and costs nothing', async () => {
  const old = chain.market.addresses
  const before = chain.head().number
  start()
  const { addresses, naming } = await deploySuccessors(chain)
  await chain.send(...naming)
  await failure(`as CommissionEscrow: add it to contracts.CommissionEscrow of that chain and start again`)
  await chain.send(register('while the indexer is stopped'))
  const successors = [addresses.CommissionEscrow, addresses.SplitRouter]
  const [merchantId, reviewer] = [await identity(), await identity()]
  const buyInBoth = await purchases(merchantId, reviewer, [old, addresses])
  await chain.send(...buyInBoth)
  await stop()

  const task = chainTask(chain, [chain.rpcUrl])
  const contracts = {
    ...task.config.contracts,
    CommissionEscrow: [old.CommissionEscrow, addresses.CommissionEscrow],
    SplitRouter: [old.SplitRouter, addresses.SplitRouter],
  }
  indexer = runIndexer(database.url, { ...task, config: { ...task.config, contracts } })
  await catchUp()
  expect(await mirrorErrors(database.sql, chain, successors)).toEqual([])
  const ids =
    await database.sql`SELECT escrow_id FROM chain.escrows WHERE contract = ${bytes(addresses.CommissionEscrow)}`
  expect(ids).toEqual([{ escrow_id: 1n }])
  await chain.takeBack(Number(chain.head().number - before))
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
