import type { Transaction } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { fillMarket } from '../../src/testing/records.ts'

const CHAIN = 1
/** So many rows that a quadratic trigger would exceed the statement time-out. */
const MANY = 20_000
let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase(migrations)
  await fillMarket(database.sql, CHAIN, MANY, { hasShops: false })
})
afterAll(() => database.drop())

/**
 * The number of changes that one statement queues, after the plan was cached for a statement that changed a single
 * row.
 */
async function changesOf(
  what: 'review' | 'purchase' | 'agent',
  change: (tx: Transaction, below: number) => PromiseLike<unknown>,
): Promise<number> {
  return database.sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await change(tx, 2)
    await tx`DELETE FROM market.pending_changes`
    await change(tx, MANY + 1)
    const [changes] = await tx<[{ count: number }]>`
      SELECT count(*)::integer AS count FROM market.pending_changes WHERE chain_id = ${CHAIN} AND what = ${what}`
    return changes.count
  })
}

it('announces what changed of many reviews that are written at once', async () => {
  const changes = await changesOf(
    'review',
    (tx, below) => tx`
      UPDATE market.reviews SET satisfaction_score = CASE WHEN internal_id % 2 = 0 THEN 0 ELSE satisfaction_score END
      WHERE internal_id < ${below}`,
  )
  expect(changes).toBe(MANY / 2)
})

it('announces what changed of many purchases that are written at once', async () => {
  const changes = await changesOf(
    'purchase',
    (tx, below) => tx`UPDATE chain.escrows SET settled_at = now() WHERE escrow_id < ${below}`,
  )
  // The others were settled before.
  expect(changes).toBe(MANY / 2 - 1)
})

it('announces those that changed hands of many agents that are written at once', async () => {
  const changes = await changesOf(
    'agent',
    (tx, below) => tx`
      UPDATE chain.identities SET owner = CASE WHEN agent_id % 2 = 0 THEN '\\x01'::bytea ELSE owner END WHERE agent_id < ${below}`,
  )
  expect(changes).toBe(MANY / 2)
})
