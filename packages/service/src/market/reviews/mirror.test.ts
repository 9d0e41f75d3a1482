import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { applyReviewEvents, finalizeReviews, type ReviewEvent } from './mirror.ts'

const CHAIN = 7
let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

/** A review that was indexed from block 5 and is not on the chain any more. */
async function learn(proofId: number): Promise<bigint> {
  const [row] = await database.sql<{ internal_id: bigint }[]>`
    INSERT INTO market.reviews
      (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, learned_in)
    VALUES (${CHAIN}, 1, 1, '\\x01', '\\x02', 1, ${proofId}, 0, 5) RETURNING internal_id`
  if (!row) throw new Error('a record was made')
  return row.internal_id
}
const known = async () =>
  (await database.sql<{ internal_id: bigint }[]>`SELECT internal_id FROM market.reviews`).map(
    (row) => row.internal_id,
  )
const finalize = (block: bigint) => database.sql.begin((tx) => finalizeReviews(tx, CHAIN, block))

describe('finality', () => {
  it('waits for nobody who brings the text of a review at this moment, and keeps the review', async () => {
    const [written, dropped] = [await learn(1), await learn(2)]
    await finalize(4n)
    expect(await known()).toEqual([written, dropped])
    await database.sql.begin(async (tx) => {
      await tx`UPDATE market.reviews SET content = '{}' WHERE internal_id = ${written}`
      await finalize(5n)
    })
    expect(await known()).toEqual([written])
    await finalize(6n)
    expect(await known()).toEqual([written])
    expect(await database.sql`SELECT FROM market.reviews WHERE learned_in IS NOT NULL`).toHaveLength(0)
  })
})

describe('a review that comes back to the chain', () => {
  const [productId, contentHash] = [numberToHex(1, { size: 32 }), numberToHex(2, { size: 32 })]
  const publish = (reviewId: bigint) =>
    database.sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', 'final', true)`
      await tx`DELETE FROM chain.reviews WHERE proof_id = 77`
      const args = {
        reviewId,
        agentId: 1n,
        merchantId: 1n,
        productId,
        contentHash,
        proofKind: 1,
        proofId: 77n,
      }
      const event = { name: 'ReviewPublished', args, timestamp: 1n, blockNumber: 9n, logIndex: 0 }
      const linked: bigint[] = []
      await applyReviewEvents(tx, CHAIN, [event as unknown as ReviewEvent], true, async (_tx, ids) => {
        linked.push(...ids)
      })
      return linked
    })

  it('has its link made with its row on the chain once its text is known, whatever its id is now', async () => {
    expect(await publish(5n)).toEqual([])
    const [record] = await database.sql`
      UPDATE market.reviews SET content = '{}' WHERE proof_id = 77 RETURNING internal_id`
    expect(await publish(5n)).toEqual([record?.internal_id])
    expect(await publish(6n)).toEqual([record?.internal_id])
  })
})
