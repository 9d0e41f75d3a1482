import { int, pick, seeded, seedOf } from '@referrer/chain/testing'
import type { Transaction } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { earningDays } from '../../views/agents/store.ts'
import { holdsMoney } from '../escrows/holding.ts'
import { type EarningsRow, earningsInPeriod, earningsOfAgent, type Period } from './store.ts'

const CHAIN = 5
const AGENTS = [0n, 1n, 2n, 3n]
const MERCHANTS = [10n, 11n]
const seed = seedOf()
const random = seeded(seed)

let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

type Purchase = {
  reviewer_agent_id: bigint
  review_id: bigint
  buyer_agent_id: bigint | null
  merchant_id: bigint
  price: bigint
  commission: bigint
  fee: bigint
  held_back: bigint
  cashback: bigint
  deposited_at: Date
  cashback_released_at: Date | null
  settled_at: Date | null
  held_back_to_reviewer: bigint | null
  cashback_to_buyer: bigint | null
  cashback_to_reviewer: bigint | null
}
type Change = (tx: Transaction) => PromiseLike<unknown>

const amount = (most: number) => BigInt(int(random, 0, most))
const someId = () => int(random, 1, nextId)
let nextId = 1

const deposit: Change = (tx) => {
  const rows = Array.from({ length: int(random, 1, 4) }, () => ({
    chain_id: CHAIN,
    contract: Buffer.alloc(20),
    escrow_id: nextId++,
    reviewer_agent_id: pick(random, AGENTS),
    buyer_agent_id: pick(random, [...AGENTS, null]),
    payer: Buffer.alloc(20),
    nonce: Buffer.alloc(32),
    merchant_id: pick(random, MERCHANTS),
    product_id: Buffer.alloc(32),
    review_id: int(random, 1, 3),
    price: amount(1e12),
    commission: amount(1e6) + 1_000_000n,
    fee: amount(1e5),
    held_back: random() < 0.3 ? 0n : amount(1e5),
    cashback: random() < 0.3 ? 0n : amount(1e5),
    window_end: new Date(),
    // A few purchases each day.
    deposited_at: new Date(1_700_000_000_000 + 20_000_000 * nextId),
    transaction_hash: Buffer.alloc(32),
  }))
  return tx`INSERT INTO chain.escrows ${tx(rows)}`
}
const bind: Change = (tx) =>
  tx`UPDATE chain.escrows SET buyer_agent_id = ${pick(random, AGENTS)} WHERE escrow_id = ${someId()} AND buyer_agent_id IS NULL`
const release: Change = (tx) => tx`
  UPDATE chain.escrows SET cashback_released_at = now()
  WHERE escrow_id BETWEEN ${someId()} AND ${nextId} AND buyer_agent_id IS NOT NULL AND settled_at IS NULL`
const settle: Change = (tx) => {
  const [isContradicted, isEarned] = [random() < 0.5, random() < 0.5]
  return tx`
    UPDATE chain.escrows SET settled_at = now(),
      held_back_to_reviewer = CASE WHEN ${isContradicted} THEN 0 ELSE held_back END,
      held_back_to_treasury = CASE WHEN ${isContradicted} THEN held_back ELSE 0 END,
      cashback_to_buyer = CASE WHEN ${isEarned} AND cashback_released_at IS NULL THEN cashback ELSE 0 END,
      cashback_to_reviewer = CASE WHEN ${!isEarned} AND cashback_released_at IS NULL THEN cashback ELSE 0 END
    WHERE escrow_id IN (${someId()}, ${someId()}) AND settled_at IS NULL AND (buyer_agent_id IS NOT NULL OR ${!isEarned})`
}
const remove: Change = (tx) => tx`DELETE FROM chain.escrows WHERE escrow_id = ${someId()}`

const sum = <T>(rows: T[], value: (row: T) => bigint | null) =>
  rows.reduce((total, row) => total + (value(row) ?? 0n), 0n)

/** The expected totals of an agent, added up purchase by purchase. */
function addUp(purchases: Purchase[], agentId: bigint, { from, to }: Period = {}): EarningsRow {
  const within = purchases.filter(
    ({ deposited_at: at }) => (!from || at >= from) && (!to || at.getTime() < to.getTime()),
  )
  const reviewed = within.filter((row) => row.reviewer_agent_id === agentId)
  const bought = within.filter((row) => row.buyer_agent_id === agentId)
  const paid = (row: Purchase) => (row.cashback_released_at ? row.cashback : (row.cashback_to_buyer ?? 0n))
  return {
    immediate: sum(reviewed, (row) => row.commission - row.fee - row.cashback - row.held_back),
    held_back_settled:
      sum(reviewed, (row) => row.held_back_to_reviewer) + sum(reviewed, (row) => row.cashback_to_reviewer),
    held_back_pending: sum(reviewed, (row) => (row.settled_at ? 0n : row.held_back)),
    cashback_total: sum(bought, paid),
    cashback_count: BigInt(bought.filter((row) => paid(row) > 0n).length),
    cashback_pending: sum(bought, (row) => (row.settled_at || row.cashback_released_at ? 0n : row.cashback)),
  }
}

const purchasesNow = () => database.sql<Purchase[]>`SELECT * FROM chain.escrows WHERE chain_id = ${CHAIN}`

async function expectRight(): Promise<void> {
  const { sql } = database
  const purchases = await purchasesNow()
  for (const agentId of AGENTS) {
    expect(await earningsOfAgent(sql, CHAIN, agentId)).toEqual(addUp(purchases, agentId))
  }
  const sales = await sql`
    SELECT merchant_id, conversions, gross, held, settled FROM market.sales
    WHERE chain_id = ${CHAIN} AND conversions <> 0 ORDER BY merchant_id`
  const sold = MERCHANTS.map((merchantId) => {
    const own = purchases.filter(({ merchant_id }) => merchant_id === merchantId)
    const settled = own.filter((row) => row.settled_at || !holdsMoney(row)).length
    return {
      merchant_id: merchantId,
      conversions: BigInt(own.length),
      gross: sum(own, ({ price }) => price),
      held: BigInt(own.length - settled),
      settled: BigInt(settled),
    }
  })
  expect(sales).toEqual(sold.filter(({ conversions }) => conversions > 0n))
  expect(await countsKept()).toEqual(countsOf(purchases))
  for (const agentId of AGENTS) expect(await daysKept(agentId)).toEqual(daysOf(purchases, agentId))
  const days = await sql`
    SELECT merchant_id, day::text, sum(count)::bigint AS count, sum(revenue) AS revenue, sum(commission) AS commission, sum(fee) AS fee
    FROM market.daily_sales WHERE chain_id = ${CHAIN} AND count <> 0 GROUP BY merchant_id, day ORDER BY merchant_id, day`
  const byDay = Map.groupBy(
    purchases,
    (row) => `${row.merchant_id} ${row.deposited_at.toISOString().slice(0, 10)}`,
  )
  expect(days).toEqual(
    [...byDay]
      .map(([name, rows]) => ({
        merchant_id: BigInt(name.split(' ')[0] ?? ''),
        day: name.split(' ')[1] ?? '',
        count: BigInt(rows.length),
        revenue: sum(rows, ({ price }) => price),
        commission: sum(rows, ({ commission }) => commission),
        fee: sum(rows, ({ fee }) => fee),
      }))
      .sort((one, other) => Number(one.merchant_id - other.merchant_id) || one.day.localeCompare(other.day)),
  )
}

/** What pages for everybody show: purchases by reviewer and by review, and the sums of all. */
async function countsKept() {
  const { sql } = database
  const [trade] = await sql`
    SELECT purchases, volume, commission, cashback FROM market.trade_totals WHERE chain_id = ${CHAIN}`
  return {
    // Before the first purchase there is no row.
    trade: trade ?? { purchases: 0n, volume: 0n, commission: 0n, cashback: 0n },
    agents: await sql`
      SELECT agent_id, conversions FROM market.agent_sales
      WHERE chain_id = ${CHAIN} AND conversions <> 0 ORDER BY agent_id`,
    reviews: await sql`
      SELECT review_id, conversions FROM market.review_sales
      WHERE chain_id = ${CHAIN} AND conversions <> 0 ORDER BY review_id`,
  }
}

function countsOf(purchases: Purchase[]) {
  const by = <K extends 'reviewer_agent_id' | 'review_id'>(key: K) =>
    [...Map.groupBy(purchases, (row) => row[key])]
      .map(([id, rows]) => [id, BigInt(rows.length)] as const)
      .toSorted(([a], [b]) => Number(a - b))
  return {
    trade: {
      purchases: BigInt(purchases.length),
      volume: sum(purchases, ({ price }) => price),
      commission: sum(purchases, ({ commission }) => commission),
      cashback: sum(purchases, ({ cashback }) => cashback),
    },
    agents: by('reviewer_agent_id').map(([agent_id, conversions]) => ({ agent_id, conversions })),
    reviews: by('review_id').map(([review_id, conversions]) => ({ review_id, conversions })),
  }
}

type Day = { day: string; immediate: bigint; settled: bigint; cashback: bigint; sales: bigint }

const daysKept = (agentId: bigint) =>
  earningDays(database.sql, CHAIN, agentId, { first: '2000-01-01', last: '2100-01-01' })

/** Each amount on the day it was paid. */
function daysOf(purchases: Purchase[], agentId: bigint): Day[] {
  const days = new Map<string, Day>()
  const add = (at: Date | null, paid: Partial<Day>) => {
    if (!at) return
    const day = at.toISOString().slice(0, 10)
    const { immediate, settled, cashback, sales } = days.get(day) ?? NOTHING
    days.set(day, {
      day,
      immediate: immediate + (paid.immediate ?? 0n),
      settled: settled + (paid.settled ?? 0n),
      cashback: cashback + (paid.cashback ?? 0n),
      sales: sales + (paid.sales ?? 0n),
    })
  }
  for (const row of purchases) {
    if (row.reviewer_agent_id === agentId) {
      const immediate = row.commission - row.fee - row.cashback - row.held_back
      add(row.deposited_at, { immediate, sales: 1n })
      add(row.settled_at, { settled: (row.held_back_to_reviewer ?? 0n) + (row.cashback_to_reviewer ?? 0n) })
    }
    if (row.buyer_agent_id === agentId) {
      if (row.cashback_released_at) add(row.cashback_released_at, { cashback: row.cashback })
      else add(row.settled_at, { cashback: row.cashback_to_buyer ?? 0n })
    }
  }
  return [...days.values()]
    .filter(({ day: _, ...paid }) => Object.values(paid).some((amount) => amount !== 0n))
    .toSorted((a, b) => (a.day < b.day ? -1 : 1))
}

const NOTHING: Day = { day: '', immediate: 0n, settled: 0n, cashback: 0n, sales: 0n }

it(`keeps the totals that adding up all purchases gives, whatever happens to them (SEED=${seed})`, async () => {
  const { sql } = database
  let block = 1
  for (let round = 0; round < 60; round += 1) {
    const changes = Array.from({ length: int(random, 1, 3) }, () =>
      pick(random, [deposit, deposit, bind, release, settle, settle, remove]),
    )
    await sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', ${String(++block)}, true)`
      for (const change of changes) await change(tx)
    })
    if (random() < 0.2) {
      block -= int(random, 1, 3)
      await sql.begin((tx) => tx`SELECT indexer.roll_back(${CHAIN}, ${block})`)
    }
    await expectRight()
  }
  expect((await purchasesNow()).length).toBeGreaterThan(10)
})

it(`adds up the purchases of any period, the first moment included and the last not (SEED=${seed})`, async () => {
  const purchases = await purchasesNow()
  const ends = [
    undefined,
    ...purchases.map(({ deposited_at }) => deposited_at),
    new Date('0000-01-01T00:00:00+23:59'),
    new Date('9999-12-31T23:59:59-23:59'),
  ]
  for (let round = 0; round < 60; round += 1) {
    const period = { from: pick(random, ends), to: pick(random, ends) }
    const agentId = pick(random, AGENTS)
    const found = await earningsInPeriod(database.sql, CHAIN, agentId, period)
    expect(found).toEqual(addUp(purchases, agentId, period))
  }
})
