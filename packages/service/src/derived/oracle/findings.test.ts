import type { Transaction } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { asIndexer } from '../../testing/records.ts'
import { account, bytes32 } from '../ranks/testing.ts'
import { compare } from './comparisons.ts'
import { MERCHANT, type TalkingMarket, talkingMarket } from './testing.ts'

let database: TestDatabase
let market: TalkingMarket
let chains = 0

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())
beforeEach(async () => {
  market = await talkingMarket(database.sql, ++chains)
})

/** Reviews with these ratings by the buyers 101, 102, … */
async function buyersSay(...ratings: number[]): Promise<bigint[]> {
  const reviews: bigint[] = []
  for (const [at, rating] of ratings.entries())
    reviews.push(await market.say({ owner: 101 + at + said, rating }))
  said += ratings.length
  return reviews
}
let said = 0

describe('a comparison', () => {
  it('is made of three opinions, and again whenever there are twice as many', async () => {
    await buyersSay(5, 5)
    await market.follow()
    expect(await market.comparisons()).toEqual([])
    await buyersSay(5)
    await market.follow()
    expect(await market.comparisons()).toEqual(['3'])
    await buyersSay(5, 5)
    await market.follow()
    expect(await market.comparisons()).toEqual(['3'])
    await buyersSay(5)
    await market.follow()
    expect(await market.comparisons()).toEqual(['3', '6'])
  })

  it('counts an owner once, by the newest review', async () => {
    await buyersSay(5, 5)
    for (const rating of [1, 2, 3]) await market.say({ owner: 7, rating })
    await market.follow()
    expect(await market.comparisons()).toEqual(['3'])
    const [input] = await database.sql`
      SELECT i.satisfaction FROM market.comparison_inputs AS i JOIN market.comparisons USING (comparison_id)
      WHERE chain_id = ${chains} AND owner = ${account(7)}`
    expect(input).toEqual({ satisfaction: 500_000 })
  })

  it('is void when a review that it rests on leaves the chain, and is made anew of those that are left', async () => {
    const reviews = await buyersSay(5, 5, 5, 1)
    await market.follow()
    await market.drop(reviews[0] as bigint)
    await market.follow()
    expect(await market.comparisons()).toEqual(['4, void', '3'])
  })

  it('is void when an author is flagged, and is made anew when that is taken back', async () => {
    const reviews = await buyersSay(5, 5)
    await market.say({ owner: 9, rating: 5 })
    const stranger = await market.say({ owner: 50, rating: 5, isOpinion: false })
    await market.follow()
    expect(await market.outcomeOf(stranger)).toBe('confirmed')
    await market.flag(9, true)
    await market.follow()
    expect(await market.comparisons()).toEqual(['3, void'])
    expect(await Promise.all([...reviews, stranger].map(market.outcomeOf))).toEqual([
      'pending',
      'pending',
      'pending',
    ])
    await market.flag(9, false)
    await market.follow()
    expect(await market.comparisons()).toEqual(['3, void', '3'])
    expect(await market.outcomeOf(stranger)).toBe('confirmed')
    expect((await market.findingsOf(stranger)).map(({ outcome }) => outcome)).toEqual([
      'confirmed',
      'pending',
      'confirmed',
    ])
  })

  it('keeps what it was made of when an opinion changes', async () => {
    const [first] = await buyersSay(5, 5, 5)
    await market.follow()
    await market.rate(first as bigint, 1)
    await market.follow()
    expect(await market.comparisons()).toEqual(['3'])
    const inputs = await database.sql`
      SELECT i.satisfaction FROM market.comparison_inputs AS i JOIN market.comparisons USING (comparison_id) WHERE chain_id = ${chains}`
    expect(inputs.map(({ satisfaction }) => satisfaction)).toEqual([1_000_000, 1_000_000, 1_000_000])
  })
})

describe('a finding', () => {
  it.each([
    // The mean is 0.75.
    { rating: 5, outcome: 'confirmed' },
    { rating: 4, outcome: 'confirmed' },
    { rating: 3, outcome: 'confirmed' },
    { rating: 2, outcome: 'contradicted' },
    { rating: 1, outcome: 'contradicted' },
  ])('of a rating of $rating where buyers mean 4 is $outcome', async ({ rating, outcome }) => {
    const review = await market.say({ owner: 50, rating, isOpinion: false })
    await buyersSay(3, 4, 5)
    await market.follow()
    expect(await market.outcomeOf(review)).toBe(outcome)
  })

  it('is contradicted a millionth beyond a quarter', async () => {
    await buyersSay(3, 4, 5)
    const review = await market.say({ owner: 50, rating: 3, isOpinion: false })
    await database.sql`UPDATE market.reviews SET satisfaction_score = 0.499999 WHERE internal_id = ${review}`
    await market.follow()
    expect(await market.outcomeOf(review)).toBe('contradicted')
  })

  it('says of whom, of how many and how much it rests on', async () => {
    const review = await market.say({ owner: 50, rating: 1, isOpinion: false })
    for (const [at, size] of [100_000, 200_000, 200_001].entries())
      await market.say({ owner: 60 + at, rating: 5 - at, size })
    await market.follow()
    expect(await market.findingsOf(review)).toEqual([
      {
        outcome: 'contradicted',
        satisfaction: 0,
        others: 3,
        others_weight: 500_001n,
        others_weighted: 100_000n * 1_000_000n + 200_000n * 750_000n + 200_001n * 500_000n,
        size: 166_667,
        comparison_id: expect.any(BigInt),
      },
    ])
  })

  it('needs three others: the opinion of the author is none of them', async () => {
    const [own] = await buyersSay(1, 5, 5)
    await market.follow()
    expect(await market.outcomeOf(own as bigint)).toBe('pending')
    await market.drop(own as bigint)
    await market.publish(own as bigint)
    await buyersSay(5, 5, 5)
    await market.follow()
    expect(await market.findingsOf(own as bigint)).toMatchObject([
      { outcome: 'contradicted', others: 5, others_weight: 5_000_000n, others_weighted: 5_000_000_000_000n },
    ])
  })

  it('rests on an opinion as far as its purchase was big', async () => {
    const [praise, slander] = [
      await market.say({ owner: 50, rating: 5, isOpinion: false }),
      await market.say({ owner: 51, rating: 1, isOpinion: false }),
    ]
    for (let at = 0; at < 3; at++) {
      await market.say({ owner: 60 + at, rating: 5 })
      await market.say({ owner: 70 + at, rating: 1, size: 10_000 })
    }
    await market.follow()
    expect(await market.findingsOf(praise)).toMatchObject([{ outcome: 'confirmed', size: 505_000 }])
    expect(await market.outcomeOf(slander)).toBe('contradicted')
  })

  it.each([
    { satisfaction: 0.5, outcome: 'confirmed' },
    { satisfaction: 0.499_999, outcome: 'contradicted' },
  ])('of $satisfaction, where half of what was bought means 5 and half means 3, is $outcome', async (one) => {
    const review = await market.say({ owner: 50, rating: 5, isOpinion: false })
    await database.sql`UPDATE market.reviews SET satisfaction_score = ${one.satisfaction} WHERE internal_id = ${review}`
    await market.say({ owner: 60, rating: 5, size: 500_000 })
    for (const owner of [61, 62]) await market.say({ owner, rating: 3, size: 250_000 })
    await market.follow()
    expect(await market.outcomeOf(review)).toBe(one.outcome)
  })

  it("leaves out what the author's owner says, however big its purchase was", async () => {
    const own = await market.say({ owner: 50, rating: 1 })
    for (const owner of [60, 61, 62]) await market.say({ owner, rating: 5, size: 1_000 })
    await market.follow()
    expect(await market.findingsOf(own)).toMatchObject([
      { outcome: 'contradicted', others_weight: 3_000n, others_weighted: 3_000_000_000n, size: 1_000 },
    ])
  })

  it('is made among purchases without commission too, which weigh a millionth each', async () => {
    const review = await market.say({ owner: 50, rating: 5, isOpinion: false })
    for (const [at, rating] of [5, 5, 1].entries()) await market.say({ owner: 60 + at, rating, size: 0 })
    await market.follow()
    expect(await market.findingsOf(review)).toMatchObject([
      { outcome: 'contradicted', others: 3, others_weight: 3n, others_weighted: 2_000_000n, size: 0 },
    ])
    await market.say({ owner: 63, rating: 5, size: 100 })
    for (const owner of [64, 65]) await market.say({ owner, rating: 1, size: 0 })
    await market.follow()
    expect(await market.outcomeOf(review)).toBe('confirmed')
  })

  it.each([
    { beyond: 0n, outcome: 'confirmed' },
    { beyond: 1n, outcome: 'contradicted' },
  ])('of a product with a million opinions is exact: $outcome', async ({ beyond, outcome }) => {
    const weight = 1_000_000n * 1_000_000n
    await database.sql`
      INSERT INTO market.comparisons (chain_id, merchant_id, product_id, made_at, opinions, size, weight, weighted)
      VALUES (${chains}, ${MERCHANT}, ${bytes32(1)}, now(), 1000000, ${weight}, ${weight}, ${weight * 750_000n + beyond}::numeric)`
    const review = await market.say({ owner: 50, rating: 3, isOpinion: false })
    await market.follow()
    expect(await market.outcomeOf(review)).toBe(outcome)
  })

  it('weighs nothing for a review by the owner of the merchant', async () => {
    const review = await market.say({ owner: market.merchantsOwner, rating: 5, isOpinion: false })
    await buyersSay(5, 5, 5)
    await market.follow()
    expect(await market.findingsOf(review)).toMatchObject([{ outcome: 'confirmed', size: 0 }])
  })

  it('comes at once for a review that is published later, comes back, or is edited', async () => {
    await buyersSay(5, 5, 5)
    await market.follow()
    const review = await market.say({ owner: 50, rating: 5, isOpinion: false })
    await market.follow()
    expect(await market.outcomeOf(review)).toBe('confirmed')
    await market.rate(review, 1)
    await market.follow()
    expect(await market.outcomeOf(review)).toBe('contradicted')
    await market.drop(review)
    await market.rate(review, 5)
    await market.follow()
    expect(await market.outcomeOf(review)).toBe('contradicted')
    await market.publish(review)
    await market.follow()
    expect(await market.outcomeOf(review)).toBe('confirmed')
  })

  it('is written down only when it differs from the one before', async () => {
    const review = await market.say({ owner: 50, rating: 5, isOpinion: false })
    await buyersSay(5, 5, 5)
    await market.follow()
    await buyersSay(5, 5, 5)
    await market.follow()
    expect(await market.comparisons()).toEqual(['3', '6'])
    expect(await market.findingsOf(review)).toHaveLength(1)
    await buyersSay(1, 1, 1, 1, 1, 1)
    await market.follow()
    expect(await market.findingsOf(review)).toMatchObject([
      { outcome: 'confirmed' },
      { outcome: 'contradicted', others: 12 },
    ])
  })

  it.each(['disputed', 'resolved'])('leaves a review alone that is %s', async (outcome) => {
    const review = await market.say({ owner: 50, rating: 1, isOpinion: false })
    await buyersSay(5, 5, 5)
    await market.follow()
    await market.setOutcome(review, outcome)
    await market.rate(review, 5)
    await buyersSay(1, 1, 1)
    await market.follow()
    expect(await market.outcomeOf(review)).toBe(outcome)
    expect(await market.findingsOf(review)).toHaveLength(1)
  })

  it('comes to all reviews of a product that has very many, batch by batch', async () => {
    await asIndexer(database.sql, async (tx) => {
      await tx`
        WITH entered AS (
          INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps,
            content, satisfaction_score, author_owner)
          SELECT ${chains}, n, ${MERCHANT}, ${bytes32(1)}, ${bytes32(1)}, 1, n, 0, '{}', n % 2, ${account(1)}
          FROM generate_series(10001, 12500) AS n RETURNING internal_id, agent_id, proof_id)
        INSERT INTO chain.reviews
          (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash, proof_kind, proof_id, published_at)
        SELECT ${chains}, proof_id, internal_id, agent_id, ${MERCHANT}, ${bytes32(1)}, ${bytes32(1)}, 1, proof_id, now() FROM entered`
      await tx`DELETE FROM market.pending_changes WHERE chain_id = ${chains}`
    })
    await buyersSay(5, 5, 5)
    await market.follow()
    const counts = await database.sql`
      SELECT comparison_outcome AS outcome, count(*)::int AS count FROM market.reviews
      WHERE chain_id = ${chains} AND opinion_size IS NULL GROUP BY 1 ORDER BY 1`
    expect(counts).toEqual([
      { outcome: 'confirmed', count: 1_250 },
      { outcome: 'contradicted', count: 1_250 },
    ])
  })
})

it('asks nothing of the reviews of an agent that is sold', async () => {
  const tx = (() => {
    throw new Error('the database was asked')
  }) as unknown as Transaction
  const changes = [{ what: 'agent', agentId: 1n }] as const
  await expect(compare({ tx, chain: market.chain, changes, now: new Date() })).resolves.toBeUndefined()
})

it('changes nothing when everything is looked at again', async () => {
  await market.say({ owner: 50, rating: 1, isOpinion: false })
  await buyersSay(5, 4, 5, 1)
  await market.follow()
  const all = async () => [
    await database.sql`SELECT * FROM market.findings WHERE chain_id = ${chains} ORDER BY 1`,
    await database.sql`SELECT * FROM market.comparisons WHERE chain_id = ${chains} ORDER BY 1`,
    await database.sql`SELECT internal_id, comparison_outcome FROM market.reviews WHERE chain_id = ${chains} ORDER BY 1`,
  ]
  const before = await all()
  await database.sql`
    INSERT INTO market.pending_changes (chain_id, what, subject)
    SELECT chain_id, 'review', internal_id FROM market.reviews WHERE chain_id = ${chains}
    UNION ALL SELECT chain_id, unnest(ARRAY['agent', 'flag']), agent_id FROM market.agents WHERE chain_id = ${chains}`
  await market.follow()
  expect(await all()).toEqual(before)
})
