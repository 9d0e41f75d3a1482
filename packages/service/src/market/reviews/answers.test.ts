import { setTimeout as sleep } from 'node:timers/promises'
import { int, seeded, seedOf } from '@referrer/chain/testing'
import type { Queryable } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testContext } from '../../doors/http/testing.ts'
import type { Context } from '../../kit/context.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { sweepReviewChanges } from './answers.ts'
import { readReview } from './operations.ts'

const CHAIN = 7
let database: TestDatabase
let published = 0n

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

/** A published review, whose score is 0. */
async function publish(): Promise<bigint> {
  const reviewId = ++published
  await onChain(
    (tx) => tx`
      WITH record AS (
        INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
          cashback_bps, content, satisfaction_score)
        VALUES (${CHAIN}, 1, 1, '\\x01', '\\x02', 1, ${reviewId}, 0, '{}', 0) RETURNING internal_id)
      INSERT INTO chain.reviews (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash,
        proof_kind, proof_id, published_at)
      SELECT ${CHAIN}, ${reviewId}, internal_id, 1, 1, '\\x01', '\\x02', 1, ${reviewId}, now() FROM record`,
  )
  return reviewId
}

/** Writes as the indexer does for final blocks. */
const onChain = (write: (tx: Queryable) => PromiseLike<unknown>) =>
  database.sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await write(tx)
  })

const score = (sql: Queryable, reviewId: bigint, to: number) => sql`
  UPDATE market.reviews SET satisfaction_score = ${to} WHERE chain_id = ${CHAIN} AND proof_id = ${reviewId}`

const scoreIn = async (context: Context, reviewId: bigint): Promise<number> =>
  JSON.parse(String(await readReview(context, CHAIN, reviewId))).satisfaction_score

it('reads a review once as long as no review changes', async () => {
  const { context } = testContext(database.sql)
  const reviewId = await publish()
  const first = await readReview(context, CHAIN, reviewId)
  // The first check of the changes starts with an empty cache.
  const second = await readReview(context, CHAIN, reviewId)
  expect(second).toEqual(first)
  await publish()
  expect(await readReview(context, CHAIN, reviewId)).toBe(second)
  await score(database.sql, reviewId, 0.5)
  expect(await scoreIn(context, reviewId)).toBe(0.5)
})

it('shows what the chain changed or took back', async () => {
  const { context } = testContext(database.sql)
  const reviewId = await publish()
  for (let times = 0; times < 3; times += 1) await scoreIn(context, reviewId)
  await onChain(
    (tx) => tx`UPDATE chain.reviews SET edited_at = to_timestamp(1) WHERE review_id = ${reviewId}`,
  )
  const { edited_at } = JSON.parse(String(await readReview(context, CHAIN, reviewId)))
  expect(edited_at).toBe('1970-01-01T00:00:01Z')
  await onChain((tx) => tx`DELETE FROM chain.reviews WHERE review_id = ${reviewId}`)
  await expect(readReview(context, CHAIN, reviewId)).rejects.toThrow('not found')
})

it('shows a change of a transaction that began long before others and ends after them', async () => {
  const { context } = testContext(database.sql)
  const [slow, quick] = [await publish(), await publish()]
  for (let times = 0; times < 3; times += 1) await scoreIn(context, slow)
  await database.sql.begin(async (tx) => {
    await score(tx, slow, 0.25)
    await score(database.sql, quick, 0.75)
    expect(await scoreIn(context, quick)).toBe(0.75)
    expect(await scoreIn(context, slow)).toBe(0)
    expect(await scoreIn(context, slow)).toBe(0)
  })
  expect(await scoreIn(context, slow)).toBe(0.25)
})

it('shows no score that is older than the question, whoever writes and reads at the same time', async () => {
  const seed = seedOf()
  const random = seeded(seed)
  const { context } = testContext(database.sql)
  const reviews = await Promise.all([publish(), publish(), publish()])
  const written = new Map(reviews.map((reviewId) => [reviewId, 0]))
  const errors: string[] = []
  let isOver = false

  async function writeOn(reviewId: bigint): Promise<void> {
    for (let at = 1; at <= 60; at += 1) {
      await database.sql.begin(async (tx) => {
        await score(tx, reviewId, at)
        await sleep(int(random, 0, 4))
      })
      written.set(reviewId, at)
      await sleep(int(random, 0, 3))
    }
  }
  async function readOn(): Promise<void> {
    while (!isOver) {
      const reviewId = reviews[int(random, 0, 2)] as bigint
      const atLeast = written.get(reviewId) ?? 0
      const seen = await scoreIn(context, reviewId)
      if (seen < atLeast) errors.push(`seed ${seed}: read ${seen} after ${atLeast} was written`)
    }
  }
  const readers = Array.from({ length: 6 }, readOn)
  await Promise.all(reviews.map(writeOn))
  isOver = true
  await Promise.all(readers)
  expect(errors).toEqual([])
})

it('keeps nothing over a look that failed', async () => {
  const { context } = testContext(database.sql)
  const reviewId = await publish()
  for (let times = 0; times < 3; times += 1) await scoreIn(context, reviewId)
  await database.sql`ALTER TABLE market.review_changes RENAME TO away`
  await expect(scoreIn(context, reviewId)).rejects.toThrow('review_changes')
  // As after a restore of the database: the data changed without a row in `review_changes`.
  await database.sql`ALTER TABLE market.away RENAME TO review_changes`
  await score(database.sql, reviewId, 1)
  await database.sql`DELETE FROM market.review_changes`
  expect(await scoreIn(context, reviewId)).toBe(1)
})

it('forgets changes that nobody asks for any more', async () => {
  const { sql } = database
  const { signal } = new AbortController()
  await sql`INSERT INTO market.review_changes (changed_at) VALUES (now()), (now() - interval '61 minutes')`
  await sweepReviewChanges.run({ sql, signal })
  const left = await sql`SELECT FROM market.review_changes WHERE changed_at < now() - interval '1 hour'`
  expect(left).toHaveLength(0)
  expect(await sql`SELECT FROM market.review_changes`).not.toHaveLength(0)
})
