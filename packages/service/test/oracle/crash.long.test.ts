import { setTimeout as sleep } from 'node:timers/promises'
import {
  deployMarket,
  type EscrowDeposit,
  type LocalChain,
  type Market,
  privateKeyOf,
  startLocalChain,
} from '@referrer/contracts/local'
import { connect, type Sql } from '@referrer/database'
import { type KillablePostgres, startKillablePostgres } from '@referrer/database/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { callerOf } from '../http/caller.ts'
import { DAY, travel } from '../http/chain.ts'
import { standingOf } from '../http/escrows.ts'
import type { TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { newcomer, newProduct, type Person, type Review, tell } from '../http/town.ts'
import { type ServiceProcess, startServiceProcess } from '../outage/service-process.ts'
import { audit } from './audit.ts'
import { buyTogether, decided, type Gate, mineBlocks, openGate, rest, writeWithCashback } from './world.ts'

/** Longer time-outs, because a busy machine is slow. */
vi.setConfig({ testTimeout: 180_000 })

const CHAIN_ID = 31_362

let chain: LocalChain
let market: Market
let postgres: KillablePostgres
let sql: Sql
let gate: Gate
let service: ServiceProcess
let m: TestMarket
let link: Review
let buyers: Person[]

beforeAll(async () => {
  ;[chain, postgres] = await Promise.all([
    startLocalChain({ chainId: CHAIN_ID, port: 0 }),
    startKillablePostgres(),
  ])
  market = await deployMarket(chain.client)
  gate = await openGate(chain.rpcUrl ?? '')
  sql = connect(postgres.url, { max: 5, name: 'referrer tests' })
  await start()
  // The parts of a market that people need to trade; the service runs in another process.
  m = {
    call: (...asked) => callerOf(service.url)(...asked),
    sql,
    market,
    chainId: CHAIN_ID,
    clock: { aheadMs: 0 },
    async indexed() {
      await until(isIndexed, 'the newest block in the records')
    },
  } as Partial<TestMarket> as TestMarket
  const product = await newProduct({ m, merchantId: await openRecorded(m) })
  link = await writeWithCashback(m, await newcomer(m), product)
  buyers = [await newcomer(m), await newcomer(m), await newcomer(m)]
})
afterAll(async () => {
  await service?.kill()
  await sql?.end({ timeout: 1 })
  await postgres?.remove()
  await gate?.close()
  await chain?.close()
})

async function start(): Promise<void> {
  const { accounts, addresses } = market
  service = await startServiceProcess({
    DATABASE_URL: postgres.url,
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '100000',
    ORACLE_PRIVATE_KEY: privateKeyOf(accounts.oracle),
    CHAINS: JSON.stringify([
      {
        chainId: CHAIN_ID,
        rpcUrls: [gate.url],
        contracts: addresses,
        startBlock: 0,
        confirmations: 2,
        pollIntervalMs: 50,
      },
    ]),
  })
}

async function isIndexed(): Promise<boolean> {
  const { hash } = await chain.client.getBlock()
  const rows = await sql<
    { hash: string }[]
  >`SELECT '0x' || encode(block_hash, 'hex') AS hash FROM indexer.checkpoints`
  return rows.some((row) => row.hash === hash)
}

/** Makes the oracle's schedule due now, and ends the lease of a killed process. */
const hurry = () => sql`
  UPDATE jobs.schedules SET next_run_at = now(), lease_token = NULL, lease_until = NULL, leased_by = NULL
  WHERE name = 'settle-escrows'`

const inPool = async () => (await chain.client.getBlock({ blockTag: 'pending' })).transactions.length
const signed = async () => (await sql`SELECT FROM sender.transactions`).count

async function everything(what: 'isSettled' | 'isReleased', deposits: readonly EscrowDeposit[]) {
  await until(async () => {
    const all = await Promise.all(deposits.map((deposit) => standingOf({ market }, deposit)))
    return all.every((one) => one[what])
  }, `every escrow ${what}`)
}

/** Mines enough blocks to make everything final, also what is sent only now. */
async function restAfterMining(): Promise<void> {
  await until(async () => {
    await mineBlocks(m, 2)
    await sleep(200)
    return (await sql`SELECT FROM sender.intents WHERE state IN ('enqueued', 'sent')`).count === 0
  }, 'everything sent to be final')
  await rest(m)
}

it('releases cashback once, though it is killed before it sends, while it sends, and before it sees that it was mined', async () => {
  const { client } = chain
  const deposits = await buyTogether(m, link, buyers)
  gate.refuses = ['eth_estimateGas']
  for (const [at, buyer] of buyers.entries()) {
    const deposit = deposits[at]
    if (deposit) await tell(m, buyer, deposit, 5)
  }
  await until(async () => (await decided({ sql }, 'release')).length === 3, 'the decisions')
  await service.kill()
  expect(await signed()).toBe(0)

  gate.refuses = []
  gate.loses = ['eth_sendRawTransaction']
  await client.setAutomine(false)
  await start()
  await until(async () => (await inPool()) > 0, 'something in the pool')
  await service.kill()
  gate.loses = []
  await client.mine({ blocks: 1 })
  await client.setAutomine(true)

  await start()
  await everything('isReleased', deposits)
  await restAfterMining()
  expect(await decided({ sql }, 'release')).toMatchObject(
    deposits.map(() => ({ attempt: 1, state: 'confirmed' })),
  )
  await audit(m)
})

it('settles once, though its node was down from day 60 to 61 and Postgres and service were killed in the middle', async () => {
  const more = await buyTogether(m, link, [...buyers, ...buyers, ...buyers])
  gate.refuses = ['jsonrpc']
  await travel(m, 59 * DAY)
  await hurry()
  await travel(m, 2 * DAY)
  await hurry()

  // The process that decides waits for this lock, with its transactions in the outbox but not committed. Until its node is back it has nothing to decide.
  const lock = await sql.reserve()
  await lock`BEGIN`
  await lock`LOCK TABLE market.escrow_decisions IN SHARE MODE`
  gate.refuses = []
  await m.indexed()
  await hurry()
  await until(async () => {
    const { count } = await sql`
      SELECT FROM pg_locks WHERE relation = 'market.escrow_decisions'::regclass AND NOT granted`
    return count
  }, 'somebody in the middle of deciding')
  await postgres.kill()
  await postgres.start()
  await until(() => sql`SELECT 1`.catch(() => undefined), 'Postgres')
  expect(await decided({ sql }, 'settle')).toEqual([])
  expect((await sql`SELECT FROM sender.intents WHERE label LIKE 'settle%'`).count).toBe(0)

  await until(async () => {
    await hurry()
    await sleep(200)
    return (await decided({ sql }, 'settle')).length
  }, 'the decisions')
  await until(async () => (await standingOf(m, more[0] as EscrowDeposit)).isSettled, 'the first settlement')
  await service.kill()
  await start()
  const all = await sql`SELECT FROM chain.escrows`
  await everything('isSettled', more)
  await restAfterMining()
  await hurry()
  expect(await decided({ sql }, 'settle')).toMatchObject(
    Array.from({ length: all.count }, () => ({ attempt: 1, state: 'confirmed' })),
  )
  await audit(m)
})
