import type { Transaction } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { fillMarket } from '../../src/testing/records.ts'

const CHAIN = 1
/** So many that whoever compares each with every other is ended by the database before he is done. */
const MANY = 20_000
let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase(migrations)
  await fillMarket(database.sql, CHAIN, MANY, { hasShops: false })
})
afterAll(() => database.drop())

/** What one statement left of marks, after another had changed a single row and what it takes was planned for that. */
async function marksOf(
  what: 'review' | 'purchase' | 'agent',
  change: (tx: Transaction, below: number) => PromiseLike<unknown>,
): Promise<number> {
  return database.sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await change(tx, 2)
    await tx`DELETE FROM market.marks`
    await change(tx, MANY + 1)
    const [marks] = await tx<[{ count: number }]>`
      SELECT count(*)::integer AS count FROM market.marks WHERE chain_id = ${CHAIN} AND what = ${what}`
    return marks.count
  })
}

it('marks what changed of many reviews that are written at once', async () => {
  const marks = await marksOf(
    'review',
    (tx, below) => tx`
      UPDATE market.reviews SET satisfaction_score = CASE WHEN internal_id % 2 = 0 THEN 0 ELSE satisfaction_score END
      WHERE internal_id < ${below}`,
  )
  expect(marks).toBe(MANY / 2)
})

it('marks what changed of many purchases that are written at once', async () => {
  const marks = await marksOf(
    'purchase',
    (tx, below) => tx`UPDATE chain.escrows SET settled_at = now() WHERE escrow_id < ${below}`,
  )
  // The others were settled before.
  expect(marks).toBe(MANY / 2 - 1)
})

it('marks those that changed hands of many agents that are written at once', async () => {
  const marks = await marksOf(
    'agent',
    (tx, below) => tx`
      UPDATE chain.identities SET owner = CASE WHEN agent_id % 2 = 0 THEN '\\x01'::bytea ELSE owner END WHERE agent_id < ${below}`,
  )
  expect(marks).toBe(MANY / 2)
})
