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
        UNION ALL SELECT chain_id, 'open products', count(*) FROM market.listings WHERE is_open GROUP BY 1
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

/** The same for the published reviews of each agent, the votes of each review and the open products of each category. */
async function viewCounts() {
  const [row] = await sql<{ kept: unknown; found: unknown }[]>`
    SELECT jsonb_build_array(
        (SELECT jsonb_agg(to_jsonb(a) ORDER BY chain_id, agent_id) FROM market.agent_reviews AS a WHERE count <> 0),
        (SELECT jsonb_agg(to_jsonb(v) ORDER BY internal_id) FROM market.review_votes AS v),
        (SELECT jsonb_agg(to_jsonb(p) ORDER BY chain_id, category) FROM market.category_products AS p WHERE count <> 0)) AS kept,
      jsonb_build_array(
        (SELECT jsonb_agg(to_jsonb(counted) ORDER BY chain_id, agent_id) FROM (
          SELECT m.chain_id, m.agent_id, count(*) FROM chain.reviews JOIN market.reviews AS m USING (internal_id)
          WHERE m.content IS NOT NULL GROUP BY 1, 2) AS counted),
        (SELECT jsonb_agg(to_jsonb(counted) ORDER BY internal_id) FROM (
          SELECT review_internal_id AS internal_id, count(*), count(*) FILTER (WHERE qualifies) AS qualifying
          FROM market.votes GROUP BY 1) AS counted),
        (SELECT jsonb_agg(to_jsonb(counted) ORDER BY chain_id, category) FROM (
          SELECT l.chain_id, p.category, count(*) FROM market.listings AS l
          JOIN market.products AS p USING (chain_id, merchant_id, product_id) WHERE l.is_open GROUP BY 1, 2) AS counted)) AS found`
  return row
}

async function expectRight(): Promise<void> {
  for (const row of [await counts(), await rangeCounts(), await viewCounts()])
    expect(row?.kept).toEqual(row?.found)
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

  it('follow votes', async () => {
    for (const ballots of [40, 10]) {
      await sql`
        WITH ballot AS (
          INSERT INTO market.ballots (chain_id, contract, payer, nonce, escrow_id, voter_agent_id, votes_hash, commitment_nonce, expiry,
            signature, cast_at)
          SELECT ${CHAIN}, '', int4send(n), int4send(${ballots}), 1, 1, '', '', 0, '', now() FROM generate_series(1, ${ballots}::integer) AS n
          RETURNING ballot_id
        )
        INSERT INTO market.votes (ballot_id, review_internal_id, position, reasoning, chain_id, voter_agent_id, author_agent_id,
          voter_owner, qualifies, weight, cast_at)
        SELECT ballot_id, internal_id, 1, '', ${CHAIN}, 1, 1, '', ballot_id % 3 > 0, 0, now()
        FROM ballot JOIN market.reviews ON internal_id IN (1 + ballot_id % 7, 10)`
    }
    await expectRight()
  })

  it('follow listings that open, close, change their category and go', async () => {
    await sql`
      INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
      SELECT chain_id, merchant_id, product_id, product_id < '\\x80', 0, '{}', '' FROM market.products`
    await expectRight()
    await sql`UPDATE market.listings SET is_open = NOT is_open WHERE product_id > '\\x60'`
    await expectRight()
    // What is only touched changes nothing, and a new category counts when the listing is written next.
    await sql`UPDATE market.products SET category = 'new' WHERE product_id < '\\x40'`
    await sql`UPDATE market.listings SET changed_in = pg_current_xact_id()`
    expect(await sql`SELECT FROM market.category_products WHERE category = 'new'`).toHaveLength(0)
    await sql`
      INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
      SELECT chain_id, merchant_id, product_id, true, 1, '{}', '' FROM market.products
      ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET is_open = excluded.is_open, review_count = 1`
    await expectRight()
    await sql`DELETE FROM market.listings WHERE product_id > '\\xa0'`
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
