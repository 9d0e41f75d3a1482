import type { Sql, Transaction } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillMarket } from '../../testing/records.ts'
import { countOf } from './counts.ts'
import { migrations } from './migrations.ts'

const CHAIN = 7
let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = database.sql
  await fillMarket(sql, CHAIN, 300)
  await fillMarket(sql, CHAIN + 1, 100)
})
afterAll(() => database.drop())

/** The kept counts, and what counting the rows gives. */
async function counts() {
  const [row] = await sql<{ kept: unknown; found: unknown }[]>`
    SELECT (SELECT jsonb_agg(jsonb_build_array(chain_id, what, count) ORDER BY what, chain_id) FROM market.counts) AS kept,
      (SELECT jsonb_agg(jsonb_build_array(chain_id, what, count) ORDER BY what, chain_id) FROM (
        SELECT chain_id, 'agents' AS what, count(*) FROM chain.identities GROUP BY 1
        UNION ALL SELECT chain_id, 'merchants', count(*) FROM market.merchants GROUP BY 1
        UNION ALL SELECT c.chain_id, 'published reviews', count(*) FROM chain.reviews AS c
          JOIN market.reviews AS m USING (internal_id) WHERE m.content IS NOT NULL GROUP BY 1) AS counted) AS found`
  return row
}

/** The same for each range of ids. */
async function rangeCounts() {
  const [row] = await sql<{ kept: unknown; found: unknown }[]>`
    SELECT (SELECT jsonb_agg(to_jsonb(p) ORDER BY what, chain_id, id_range) FROM market.range_counts AS p WHERE count <> 0) AS kept,
      (SELECT jsonb_agg(to_jsonb(counted) ORDER BY what, chain_id, id_range) FROM (
        SELECT chain_id, 'agents' AS what, agent_id / 1000 AS id_range, count(*) FROM chain.identities GROUP BY 1, 3
        UNION ALL SELECT c.chain_id, 'published reviews', internal_id / 1000, count(*) FROM chain.reviews AS c
          JOIN market.reviews AS m USING (internal_id) WHERE m.content IS NOT NULL GROUP BY 1, 3) AS counted) AS found`
  return row
}

async function expectRight(): Promise<void> {
  for (const row of [await counts(), await rangeCounts()]) expect(row?.kept).toEqual(row?.found)
}

const asIndexer = (work: (tx: Transaction) => Promise<unknown>) =>
  sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', '5', true)`
    await work(tx)
  })

const somebodyWaits = () =>
  expect
    .poll(
      () => sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    )
    .toHaveLength(1)

describe('the counts that are kept', () => {
  it('are right in a filled database', async () => {
    await expectRight()
  })

  it('follow agents, merchants and reviews that come and go, and texts that are brought and taken away', async () => {
    await sql`INSERT INTO market.merchants (chain_id, merchant_id) SELECT ${CHAIN}, n FROM generate_series(1000, 1009) AS n`
    await sql`DELETE FROM market.merchants WHERE chain_id = ${CHAIN} AND merchant_id IN (1, 2, 1003)`
    await sql`UPDATE market.reviews SET content = '{}' WHERE chain_id = ${CHAIN} AND content IS NULL AND internal_id % 2 = 0`
    await sql`UPDATE market.reviews SET content = NULL WHERE internal_id IN (5, 6, 7)`
    await expectRight()
    await asIndexer((tx) => tx`DELETE FROM chain.reviews WHERE review_id < 20`)
    await asIndexer((tx) => tx`DELETE FROM chain.identities WHERE chain_id = ${CHAIN} AND agent_id < 30`)
    await expectRight()
  })

  it('are taken back with what a reorganisation takes back', async () => {
    await sql.begin((tx) => tx`SELECT indexer.roll_back(${CHAIN}, 4)`)
    await expectRight()
    await sql.begin((tx) => tx`SELECT indexer.forget(${CHAIN + 1})`)
    expect(await countOf(sql, CHAIN + 1, 'published reviews')).toBe(0n)
    expect(await countOf(sql, CHAIN, 'published reviews')).toBeGreaterThan(0n)
  })

  it('do not miss a review that is indexed while its text is brought', async () => {
    const [free] = await sql<{ internal_id: bigint }[]>`
      INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps)
      VALUES (${CHAIN}, 1, 1, '\\x01', '\\x02', 1, 1, 0) RETURNING internal_id`
    if (!free) throw new Error('a record was made')
    const before = await countOf(sql, CHAIN, 'published reviews')
    const hold = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const bringing = sql.begin(async (tx) => {
      await tx`UPDATE market.reviews SET content = '{}' WHERE internal_id = ${free.internal_id}`
      held.resolve()
      await hold.promise
    })
    await held.promise
    // As the indexer does: it takes the record, then writes the row that points to it.
    const indexing = asIndexer(async (tx) => {
      await tx`UPDATE market.reviews SET learned_in = 5 WHERE internal_id = ${free.internal_id}`
      await tx`
        INSERT INTO chain.reviews (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash, proof_kind, proof_id, published_at)
        VALUES (${CHAIN}, 100000, ${free.internal_id}, 1, 1, '\\x01', '\\x02', 1, 1, now())`
    })
    await somebodyWaits()
    hold.resolve()
    await Promise.all([bringing, indexing])
    expect(await countOf(sql, CHAIN, 'published reviews')).toBe(before + 1n)
  })

  it('do not keep a review that is taken back while its text is brought', async () => {
    const [bare] = await sql<{ internal_id: bigint }[]>`
      SELECT internal_id FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
      WHERE m.chain_id = ${CHAIN} AND m.content IS NULL LIMIT 1`
    if (!bare) throw new Error('some review of a filled market has no text')
    const before = await countOf(sql, CHAIN, 'published reviews')
    const hold = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const bringing = sql.begin(async (tx) => {
      await tx`UPDATE market.reviews SET content = '{}' WHERE internal_id = ${bare.internal_id}`
      held.resolve()
      await hold.promise
    })
    await held.promise
    const takingBack = asIndexer(
      (tx) => tx`DELETE FROM chain.reviews WHERE internal_id = ${bare.internal_id}`,
    )
    await Promise.race([takingBack, somebodyWaits()])
    hold.resolve()
    await Promise.all([bringing, takingBack])
    expect(await countOf(sql, CHAIN, 'published reviews')).toBe(before)
  })
})
