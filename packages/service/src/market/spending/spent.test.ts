import { int, pick, seeded, seedOf } from '@referrer/chain/testing'
import type { Transaction } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { asIndexer } from '../../testing/records.ts'
import { spentBy } from './spent.ts'

const CHAIN = 5
const seed = seedOf()
const random = seeded(seed)
const wallet = (number: number) => Buffer.alloc(20, number)
const WALLETS = [1, 2, 3].map(wallet)
const AGENTS = [10n, 11n, 20n, 90n]
const MIDNIGHT = new Date('2026-05-05T00:00:00Z')

let database: TestDatabase
let nextId = 1

beforeAll(async () => {
  database = await freshDatabase(migrations)
  await database.sql`
    INSERT INTO indexer.checkpoints (chain_id, block_number, block_hash, block_time, final_number, head_number, head_time)
    VALUES (${CHAIN}, 77, ''::bytea, now(), 0, 77, now())`
})
afterAll(() => database.drop())

type Purchase = { payer: Buffer; buyer_owner: Buffer | null; price: bigint; deposited_at: Date }
type Change = (tx: Transaction) => PromiseLike<unknown>
const someId = () => int(random, 1, nextId)

const deposit: Change = (tx) => {
  const rows = Array.from({ length: int(random, 1, 4) }, () => ({
    chain_id: CHAIN,
    ...pick(random, [
      { buyer_agent_id: null, buyer_owner: null },
      { buyer_agent_id: pick(random, AGENTS), buyer_owner: pick(random, WALLETS) },
    ]),
    contract: Buffer.alloc(20),
    escrow_id: nextId++,
    reviewer_agent_id: 1,
    payer: pick(random, WALLETS),
    nonce: Buffer.alloc(32),
    merchant_id: 1,
    product_id: Buffer.alloc(32),
    review_id: 1,
    price: int(random, 0, 1e9),
    ...{ commission: 0, fee: 0, held_back: 0, cashback: 0 },
    window_end: MIDNIGHT,
    deposited_at: new Date(MIDNIGHT.getTime() + 1_000 * int(random, -1, 1)),
    transaction_hash: Buffer.alloc(32),
  }))
  return tx`INSERT INTO chain.escrows ${tx(rows)}`
}
const bind: Change = (tx) => tx`
  UPDATE chain.escrows SET buyer_agent_id = ${pick(random, AGENTS)}
  WHERE escrow_id BETWEEN ${someId()} AND ${nextId} AND buyer_agent_id IS NULL`
const unbind: Change = (tx) =>
  tx`UPDATE chain.escrows SET buyer_agent_id = NULL WHERE escrow_id = ${someId()}`
const settle: Change = (tx) => tx`UPDATE chain.escrows SET settled_at = now() WHERE escrow_id > ${someId()}`
const remove: Change = (tx) => tx`DELETE FROM chain.escrows WHERE escrow_id = ${someId()}`

/** The expected sums, added up purchase by purchase. */
function addUp(purchases: Purchase[], owner: Buffer) {
  const own = purchases.filter(({ payer, buyer_owner }) => payer.equals(owner) || buyer_owner?.equals(owner))
  const sum = (rows: Purchase[]) => rows.reduce((total, { price }) => total + price, 0n)
  return {
    today: sum(own.filter(({ deposited_at }) => deposited_at >= MIDNIGHT)),
    total: sum(own),
    asOfBlock: 77n,
  }
}

it(`is what the purchases come to, whatever happens to them (SEED=${seed})`, async () => {
  const { sql } = database
  for (let step = 0; step < 60; step += 1) {
    await asIndexer(sql, pick(random, [deposit, deposit, bind, unbind, settle, remove]))
    const purchases = await sql<Purchase[]>`SELECT * FROM chain.escrows`
    for (const owner of WALLETS) {
      expect(await spentBy(sql, { chainId: CHAIN, owner }, MIDNIGHT)).toEqual(addUp(purchases, owner))
    }
  }
})

it('is unknown of a chain of which nothing is in the records', async () => {
  expect(await spentBy(database.sql, { chainId: CHAIN + 1, owner: wallet(1) }, MIDNIGHT)).toBeUndefined()
})
