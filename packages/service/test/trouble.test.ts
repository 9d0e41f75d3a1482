import { startFaultProxy } from '@referrer/chain/testing'
import type { Addresses } from '@referrer/contracts/deploy'
import { signPurchase } from '@referrer/contracts/local'
import { connect } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { keccak256, type LocalAccount, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { migrations } from '../src/machinery/db/migrations.ts'
import { until } from '../src/machinery/workers/testing.ts'
import { call, settle, termsOf } from './calls.ts'
import { type ForkingChain, SLOW_START_MS, startForkingChain } from './forking-chain.ts'
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
import { fold, readEvents } from './replay.ts'
import { TRADERS } from './trade.ts'

const [owner, buyer] = TRADERS as [LocalAccount, LocalAccount]
/** Longer time-outs, because a busy machine is slow. */
const TIMEOUT_MS = 60_000
vi.setConfig({ testTimeout: 180_000 })

let chain: ForkingChain
let database: TestDatabase
let indexer: RunningIndexer | undefined

beforeAll(async () => {
  chain = await startForkingChain(31_351, TRADERS)
}, SLOW_START_MS)
afterAll(() => chain?.close())
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
const catchUp = () => until(() => isCaughtUp(database.sql, chain), 'the newest block', TIMEOUT_MS)
const failure = (text: string) =>
  until(
    () => indexer?.status().error?.includes(text),
    `the failure "${text}", not "${indexer?.status().error}"`,
    TIMEOUT_MS,
  )

const register = (uri: string) => call(chain, owner, 'IdentityRegistry', 'register', [uri])

/** Registers an identity and returns its id. */
async function identity(account: LocalAccount): Promise<bigint> {
  await chain.send(call(chain, account, 'IdentityRegistry', 'register', []))
  return BigInt(chain.world().identities.length - 1)
}

/** One purchase by an agent through the present router, and one through the successor. */
async function buyFromBoth(successors: Addresses): Promise<void> {
  const [merchantId, reviewerAgentId, buyerAgentId] = [
    await identity(owner),
    await identity(owner),
    await identity(buyer),
  ]
  const productId = numberToHex(1, { size: 32 })
  await chain.send(
    call(chain, owner, 'MerchantRegistry', 'setActive', [merchantId, true]),
    call(chain, owner, 'MerchantRegistry', 'listProduct', [merchantId, productId, 1_000, 0n, 0, '']),
  )
  const ids = { merchantId, productId, reviewId: 0n, reviewerAgentId, buyerAgentId }
  const attribution = { ...ids, cashbackOfCommissionBps: 1_000, commissionMultiplierBps: 10_000 }
  for (const addresses of [chain.market.addresses, successors]) {
    const through = { ...chain, market: { ...chain.market, addresses } }
    const salt = keccak256(addresses.SplitRouter)
    const purchase = await signPurchase(through.market, buyer, { value: 1_000_000n, salt, attribution })
    await chain.send(settle(through, [purchase]))
  }
}

/** Mines blocks, each with an event. */
async function fill(blocks: number, uri: string): Promise<void> {
  for (let count = 0; count < blocks; count += 1) await chain.send(register(`${uri} ${count}`))
}

test('a reorganisation of all that is not final is followed, and one that is a block deeper is reported and changes nothing', async () => {
  start()
  await catchUp()
  await fill(FINALITY + 4, 'first')
  await catchUp()
  await chain.takeBack(FINALITY)
  await fill(FINALITY, 'second')
  await catchUp()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])
  const before = await database.sql`SELECT * FROM chain.identities ORDER BY agent_id`

  await chain.takeBack(FINALITY + 1)
  await fill(FINALITY + 3, 'third')
  await failure('which was final')
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
  // Each call logs three events that are indexed.
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

describe('a contract that was replaced', () => {
  let before: bigint
  beforeEach(() => {
    before = chain.head().number
  })
  afterEach(async () => {
    await stop()
    await chain.takeBack(Number(chain.head().number - before))
  })

  /** Follows the contracts of both generations. */
  function startWith(addresses: Addresses) {
    const task = chainTask(chain, [chain.rpcUrl])
    const { CommissionEscrow, SplitRouter } = task.config.contracts
    const contracts = {
      ...task.config.contracts,
      CommissionEscrow: [...CommissionEscrow, addresses.CommissionEscrow],
      SplitRouter: [...SplitRouter, addresses.SplitRouter],
    }
    indexer = runIndexer(database.url, { ...task, config: { ...task.config, contracts } })
  }

  test('and is not configured stops the indexer with the remedy, and costs nothing', async () => {
    start()
    const { addresses, naming } = await deploySuccessors(chain)
    await chain.send(...naming)
    await failure('as CommissionEscrow: add it to contracts.CommissionEscrow of that chain and start again')
    await buyFromBoth(addresses)
    await stop()

    startWith(addresses)
    await catchUp()
    const successors = [addresses.CommissionEscrow, addresses.SplitRouter]
    expect(await mirrorErrors(database.sql, chain, successors)).toEqual([])
    expect(await database.sql`SELECT escrow_id FROM chain.escrows`).toEqual([
      { escrow_id: 1n },
      { escrow_id: 1n },
    ])
  })

  test('counts from 1 again: reviews of equal number and content, one of each, are two', async () => {
    const { addresses, naming } = await deploySuccessors(chain)
    const successors = [addresses.CommissionEscrow, addresses.SplitRouter]
    await chain.send(...naming)
    startWith(addresses)
    await buyFromBoth(addresses)
    const { escrows } = fold(
      chain.chainId,
      await readEvents(chain.market, before, chain.head().number, successors),
    )
    for (const escrow of escrows) {
      const args = [escrow.contract, termsOf(escrow), keccak256('0x01')]
      await chain.send(call(chain, buyer, 'ReviewRegistry', 'publishWithEscrow', args))
    }
    await catchUp()
    expect(await mirrorErrors(database.sql, chain, successors)).toEqual([])
    const numbers = () => database.sql`SELECT review_id, internal_id FROM chain.reviews ORDER BY review_id`
    const first = await numbers()
    expect(first).toHaveLength(2)

    await stop()
    await mineUntilFinal(chain)
    await database.sql`SELECT indexer.forget(${chain.chainId})`
    startWith(addresses)
    await catchUp()
    expect(await mirrorErrors(database.sql, chain, successors)).toEqual([])
    expect(await numbers()).toEqual(first)
  })
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
