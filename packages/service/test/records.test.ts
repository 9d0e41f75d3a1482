import { signPurchase } from '@referrer/contracts/local'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { Attribution } from '@referrer/protocol'
import { type Hex, type LocalAccount, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { migrations } from '../src/machinery/db/migrations.ts'
import { until } from '../src/machinery/workers/testing.ts'
import { call, publishWithProof, settle } from './calls.ts'
import { type Call, type ForkingChain, SLOW_START_MS, startForkingChain } from './forking-chain.ts'
import {
  chainTask,
  FINALITY,
  isCaughtUp,
  mineUntilFinal,
  mirrorErrors,
  type RunningIndexer,
  recordErrors,
  runIndexer,
} from './marketplace.ts'
import { rowsOf } from './tables.ts'
import { TRADERS } from './trade.ts'

const CHAIN_ID = 31_361
/** The ids of the merchant and of the author. */
const [MERCHANT, AUTHOR] = [0n, 1n]
const PRODUCT: Hex = numberToHex(1, { size: 32 })

const [owner, buyer] = TRADERS as [LocalAccount, LocalAccount]
/** Longer time-outs, because a busy machine is slow. */
const TIMEOUT_MS = 60_000
vi.setConfig({ testTimeout: 180_000 })

let chain: ForkingChain
let database: TestDatabase
let indexer: RunningIndexer | undefined
let proofs = 0n

beforeAll(async () => {
  chain = await startForkingChain(CHAIN_ID, TRADERS)
  const register = call(chain, owner, 'IdentityRegistry', 'register', [])
  await chain.send(register, register, call(chain, owner, 'MerchantRegistry', 'setActive', [MERCHANT, true]))
  await chain.send(list(PRODUCT))
}, SLOW_START_MS)
afterAll(() => chain?.close())

beforeEach(async () => {
  database = await freshDatabase(migrations)
  start()
})
afterEach(async () => {
  await stop()
  await database.drop()
})

const start = () => {
  indexer = runIndexer(database.url, chainTask(chain, [chain.rpcUrl]))
}
const stop = async () => {
  await indexer?.stop()
  indexer = undefined
}
const catchUp = () => until(() => isCaughtUp(database.sql, chain), 'the newest block', TIMEOUT_MS)

const list = (productId: Hex) =>
  call(chain, owner, 'MerchantRegistry', 'listProduct', [MERCHANT, productId, 1_000, 0n, 0, ''])

function publish(proofId: bigint, by = owner): Promise<Call> {
  const review = { agentId: AUTHOR, merchantId: MERCHANT, productId: PRODUCT, content: '{}', proofId }
  return publishWithProof(chain, by, review, chain.head().timestamp)
}

const pledge = (bps: number) => database.sql`
  INSERT INTO market.cashback_rates (chain_id, agent_id, bps) VALUES (${CHAIN_ID}, ${AUTHOR}, ${bps})
  ON CONFLICT (chain_id, agent_id) DO UPDATE SET bps = excluded.bps`

const recordOf = async (proofId: bigint) => {
  const [row] = await database.sql<{ internal_id: bigint; cashback_bps: number }[]>`
    SELECT internal_id, cashback_bps FROM market.reviews WHERE chain_id = ${CHAIN_ID} AND proof_id = ${proofId}`
  return row
}

const mineEmpty = async (blocks: number) => {
  for (let count = 0; count < blocks; count += 1) await chain.mine([], 2n)
}

test('a review that a reorganisation moves keeps its number and the cashback that was pledged when it entered the records', async () => {
  const [moved, later] = [++proofs, ++proofs]
  await pledge(1_000)
  await chain.send(await publish(moved))
  await catchUp()
  const entered = await recordOf(moved)
  expect(entered).toMatchObject({ cashback_bps: 1_000 })

  await pledge(2_000)
  await chain.takeBack(1)
  await chain.send(await publish(later))
  await catchUp()
  expect(await database.sql`SELECT FROM chain.reviews WHERE proof_id = ${moved}`).toHaveLength(0)
  await mineEmpty(1)
  await chain.send(await publish(moved))
  await catchUp()
  expect(await recordOf(moved)).toEqual(entered)
  expect(await recordOf(later)).toMatchObject({ cashback_bps: 2_000 })
  expect(await mirrorErrors(database.sql, chain)).toEqual([])

  await mineUntilFinal(chain)
  await catchUp()
  expect(await recordOf(moved)).toEqual(entered)
})

test('a review that moved while nobody indexed keeps its number, though the block it was learned from is final by then', async () => {
  const moved = ++proofs
  await chain.send(await publish(moved))
  await catchUp()
  const entered = await recordOf(moved)
  await stop()
  await chain.takeBack(1)
  await mineEmpty(FINALITY - 4)
  await chain.send(await publish(moved))
  await mineEmpty(6)
  start()
  await catchUp()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])
  expect(entered).toBeDefined()
  expect(await recordOf(moved)).toEqual(entered)
})

test('records of a block that the chain dropped stay until it is final, then they go, unless somebody has added to them', async () => {
  const [kept, gone] = [++proofs, ++proofs]
  const agents = chain.world().identities.length
  const register = call(chain, owner, 'IdentityRegistry', 'register', [])
  const [first, second] = [numberToHex(101, { size: 32 }), numberToHex(102, { size: 32 })]
  await chain.send(register, register, list(first), list(second), await publish(kept), await publish(gone))
  await catchUp()
  await database.sql`UPDATE market.agents SET registered_at = now() WHERE agent_id = ${BigInt(agents)}`
  await database.sql`UPDATE market.products SET described_at = now() WHERE product_id = ${Buffer.from(first.slice(2), 'hex')}`
  await database.sql`UPDATE market.reviews SET content = '{}' WHERE proof_id = ${kept}`

  await chain.takeBack(6)
  await mineEmpty(7)
  await catchUp()
  expect(await recordOf(gone)).toBeDefined()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])

  await mineUntilFinal(chain)
  await catchUp()
  expect(await recordOf(gone)).toBeUndefined()
  expect(await recordOf(kept)).toBeDefined()
  const { sql } = database
  const ids = async (table: string, column: string) =>
    (await rowsOf(sql, table, CHAIN_ID)).map((row) => row[column])
  expect(await ids('market.agents', 'agent_id')).toHaveLength(agents + 1)
  expect(await ids('market.products', 'product_id')).toContain(first)
  expect(await ids('market.products', 'product_id')).not.toContain(second)
})

test('records that first moved to a later block and then were dropped there do not stay behind', async () => {
  const moved = ++proofs
  const product = numberToHex(103, { size: 32 })
  const calls = async () => [
    call(chain, owner, 'IdentityRegistry', 'register', []),
    list(product),
    await publish(moved),
  ]
  await chain.send(...(await calls()))
  await catchUp()
  await chain.takeBack(3)
  await mineEmpty(8)
  await chain.send(...(await calls()))
  await catchUp()
  // Their blocks become final while the later ones are not yet.
  await mineEmpty(8)
  await catchUp()
  await chain.takeBack(11)
  await mineEmpty(12)
  await mineUntilFinal(chain)
  await catchUp()
  expect(await mirrorErrors(database.sql, chain)).toEqual([])
  expect(await recordErrors(database.sql, chain)).toEqual([])
})

test('a chain that is indexed anew gets the same tables, and its reviews the same numbers', async () => {
  await chain.send(await publish(++proofs), await publish(++proofs))
  await mineEmpty(FINALITY - 1)
  await chain.send(await publish(++proofs))
  await catchUp()
  const { sql } = database
  const numbers = () => sql`SELECT review_id, internal_id FROM chain.reviews ORDER BY review_id`
  const before = await numbers()
  expect(before.length).toBeGreaterThanOrEqual(3)

  await stop()
  await sql`SELECT indexer.forget(${CHAIN_ID})`
  expect(await sql`SELECT FROM chain.identities`).toHaveLength(0)
  start()
  await catchUp()
  expect(await mirrorErrors(sql, chain)).toEqual([])
  expect(await numbers()).toEqual(before)
})

test('a review belongs to whoever owned its author when it was published, wherever a reorganisation moves it', async () => {
  const [first, second, third] = [++proofs, ++proofs, ++proofs]
  const ownerOf = async (proofId: bigint) => {
    const [row] = await database.sql<{ owner: Hex }[]>`
      SELECT '0x' || encode(author_owner, 'hex') AS owner FROM market.reviews
      WHERE chain_id = ${CHAIN_ID} AND proof_id = ${proofId}`
    return row?.owner
  }
  const [one, other] = [owner.address.toLowerCase(), buyer.address.toLowerCase()]
  const hand = (from: LocalAccount, to: LocalAccount) =>
    call(chain, from, 'IdentityRegistry', 'transferFrom', [from.address, to.address, AUTHOR])

  await chain.send(await publish(first), hand(owner, buyer), await publish(second, buyer))
  // In one block: returned, published, and transferred again.
  await chain.mine(
    await chain.sign([
      { ...hand(buyer, owner), tip: 3n },
      { ...(await publish(third)), tip: 2n },
      { ...hand(owner, buyer), tip: 1n },
    ]),
  )
  await catchUp()
  expect([await ownerOf(first), await ownerOf(second), await ownerOf(third)]).toEqual([one, other, one])
  expect(await mirrorErrors(database.sql, chain)).toEqual([])

  // The same review again, but under another owner.
  await chain.takeBack(4)
  await chain.send(hand(owner, buyer), await publish(first, buyer), hand(buyer, owner))
  await catchUp()
  expect(await ownerOf(first)).toBe(other)
  expect(await mirrorErrors(database.sql, chain)).toEqual([])
  await mineUntilFinal(chain)
  await catchUp()
  expect(await recordErrors(database.sql, chain)).toEqual([])
})

test('a purchase is settled without waiting for the service, and is in its escrow records seconds later [CHAIN-08]', async () => {
  await catchUp()
  await stop()
  const purchase = await signPurchase(chain.market, buyer, {
    value: 1_000_000n,
    attribution: {
      merchantId: MERCHANT,
      productId: PRODUCT,
      reviewId: 0n,
      reviewerAgentId: AUTHOR,
      buyerAgentId: Attribution.AGENTLESS_BUYER_ID,
      cashbackOfCommissionBps: 1_000,
      commissionMultiplierBps: 10_000,
    },
  })
  await chain.send(settle(chain, [purchase]))
  const { nonce } = purchase.authorization
  const settled = chain.world().escrows.filter((escrow) => escrow.nonce === nonce)
  expect(settled).toHaveLength(1)
  const recorded = async () =>
    (await rowsOf(database.sql, 'chain.escrows', CHAIN_ID)).filter((row) => row.nonce === nonce)
  expect(await recorded()).toEqual([])

  start()
  expect(await until(async () => (await recorded())[0], 'the purchase in the records')).toEqual(settled[0])
})
