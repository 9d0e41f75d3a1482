import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { forgetOpinions } from './store.ts'
import { account, expectRight, MERCHANT, type SmallMarket, smallMarket } from './testing.ts'

let database: TestDatabase
let market: SmallMarket
let chains = 0

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

beforeEach(async () => {
  market = smallMarket(database.sql, ++chains)
  await market.list(1)
})
afterEach(async () => {
  await market.followAll()
  await expectRight(market)
})

/** The rank of a product on the first day with opinions of these weights and satisfactions. */
function rank(...opinions: [weight: number, satisfaction: number][]): number {
  const weight = opinions.reduce((sum, [own]) => sum + own, 5e6)
  const weighted = opinions.reduce((sum, [own, satisfaction]) => sum + own * satisfaction, 5e6 * 0.5)
  return Math.round((weighted / weight) * 1e6) / 1e6
}

const heard = async () => {
  await market.followAll()
  return market.speakers()
}

describe('an opinion', () => {
  it("is what a buyer's published review says", async () => {
    const review = await market.record({ satisfaction: 0.75, weight: 300_000 })
    expect(await heard()).toEqual({})
    await market.publish(review)
    expect(await heard()).toEqual({ '1 of 1': review })
    expect(await market.rankOf()).toBe(rank([300_000, 0.75]))
  })

  it('waits for the text of its review', async () => {
    const review = await market.say()
    const text = (content: string | null) =>
      database.sql`UPDATE market.reviews SET content = ${content} WHERE internal_id = ${review}`
    await text(null)
    expect(await heard()).toEqual({})
    await text('{}')
    expect(await heard()).toEqual({ '1 of 1': review })
  })

  it('is none where the review is on a proof, or of the merchant itself', async () => {
    await market.say({ size: null, weight: null })
    expect(await heard()).toEqual({})
    expect(await market.rankOf()).toBe(0.5)
  })

  it('of an owner is the newest of all its reviews, whichever agent wrote it and in whatever order they are learned of', async () => {
    const middle = await market.say({ agentId: 1n, at: 20, satisfaction: 0 })
    expect(await heard()).toEqual({ '1 of 1': middle })
    const newest = await market.say({ agentId: 2n, at: 30, satisfaction: 1 })
    expect(await heard()).toEqual({ '1 of 1': newest })
    await market.say({ agentId: 3n, at: 10, satisfaction: 0.5 })
    expect(await heard()).toEqual({ '1 of 1': newest })
    expect(await market.rankOf()).toBe(rank([500_000, 1]))
  })

  it('of two reviews in one block is the one with the greater id', async () => {
    const [first, second] = [await market.record(), await market.record()]
    const [third, fourth] = [await market.record({ owner: 2 }), await market.record({ owner: 2 })]
    for (const review of [second, first, third, fourth]) await market.publish(review, 5)
    expect(await heard()).toEqual({ '1 of 1': first, '2 of 1': fourth })
  })

  it('of two owners are two', async () => {
    const one = await market.say({ owner: 1, satisfaction: 1, weight: 400_000 })
    const other = await market.say({ owner: 2, satisfaction: 0, weight: 900_000 })
    expect(await heard()).toEqual({ '1 of 1': one, '2 of 1': other })
    expect(await market.rankOf()).toBe(rank([400_000, 1], [900_000, 0]))
  })

  it('follows an edit of its review', async () => {
    const review = await market.say({ satisfaction: 1 })
    await market.followAll()
    await database.sql`UPDATE market.reviews SET satisfaction_score = 0.25 WHERE internal_id = ${review}`
    await market.followAll()
    expect(await market.rankOf()).toBe(rank([500_000, 0.25]))
  })

  it('of a flagged author gives way to the one before, and comes back', async () => {
    const honest = await market.say({ agentId: 1n, at: 1, satisfaction: 0 })
    const flagged = await market.say({ agentId: 2n, at: 2 })
    const alone = await market.say({ agentId: 2n, at: 2, owner: 2 })
    expect(await heard()).toEqual({ '1 of 1': flagged, '2 of 1': alone })
    await market.flag(2n, true)
    expect(await heard()).toEqual({ '1 of 1': honest })
    expect(await market.rankOf()).toBe(rank([500_000, 0]))
    await market.flag(2n, false)
    expect(await heard()).toEqual({ '1 of 1': flagged, '2 of 1': alone })
  })

  it('that weighs nothing counts as one and moves nothing', async () => {
    await market.say({ weight: 0 })
    await market.followAll()
    expect(await market.rankOf()).toBe(0.5)
    const [totals] = await database.sql`
      SELECT opinions, weight FROM market.product_totals WHERE chain_id = ${market.chainId}`
    expect(totals).toEqual({ opinions: 1, weight: 0n })
  })
})

describe('a reorganisation', () => {
  it('takes an opinion away and brings it back', async () => {
    const [older, newer] = [await market.say({ at: 1 }), await market.say({ at: 2, satisfaction: 0 })]
    expect(await heard()).toEqual({ '1 of 1': newer })
    await market.drop(newer)
    expect(await heard()).toEqual({ '1 of 1': older })
    await market.drop(older)
    expect(await heard()).toEqual({})
    expect(await market.rankOf()).toBe(0.5)
    await market.publish(newer, 1)
    await market.publish(older, 2)
    expect(await heard()).toEqual({ '1 of 1': older })
  })

  it('that drops and restores a review between two looks leaves everything as it was', async () => {
    const review = await market.say()
    await market.followAll()
    await market.drop(review)
    await market.publish(review)
    expect(await heard()).toEqual({ '1 of 1': review })
  })

  it('that moves a review before another one between two looks lets the other speak', async () => {
    const [first, second] = [await market.say({ at: 2 }), await market.say({ at: 3 })]
    expect(await heard()).toEqual({ '1 of 1': second })
    await market.drop(second)
    await market.publish(second, 1)
    expect(await heard()).toEqual({ '1 of 1': first })
  })

  it('whose changes come in a later batch than those of other reviews is seen all the same', async () => {
    const [oldest, middle, newest] = [
      await market.say({ at: 1 }),
      await market.say({ at: 2 }),
      await market.say({ at: 3 }),
    ]
    expect(await heard()).toEqual({ '1 of 1': newest })
    await market.drop(newest)
    await database.sql`DELETE FROM market.pending_changes WHERE subject = ${newest}`
    await database.sql`UPDATE market.reviews SET satisfaction_score = 0 WHERE internal_id = ${oldest}`
    expect(await heard()).toEqual({ '1 of 1': middle })
    await database.sql`
      INSERT INTO market.pending_changes (chain_id, what, subject) VALUES (${market.chainId}, 'review', ${newest})`
    expect(await heard()).toEqual({ '1 of 1': middle })
  })

  it('that gives a review another owner takes the opinion from the first', async () => {
    const before = await market.say({ at: 1, satisfaction: 0 })
    const moved = await market.say({ at: 2 })
    expect(await heard()).toEqual({ '1 of 1': moved })
    await market.drop(moved)
    await database.sql`UPDATE market.reviews SET author_owner = ${account(2)} WHERE internal_id = ${moved}`
    await market.publish(moved, 3)
    expect(await heard()).toEqual({ '1 of 1': before, '2 of 1': moved })
  })

  it('takes purchases back, until the merchant has no rank', async () => {
    await market.enterMerchant()
    const purchase = await market.buy()
    await market.followAll()
    expect(await market.merchantRank()).toBe(0.5)
    await market.unbuy(purchase)
    await market.followAll()
    expect(await market.merchantRank()).toBeNull()
  })

  it('that takes a product from the records loses none of its totals', async () => {
    await market.say()
    await market.followAll()
    await database.sql`DELETE FROM market.products WHERE chain_id = ${market.chainId}`
    await market.say({ owner: 2, satisfaction: 0.25 })
    await market.followAll()
    expect(await market.rankOf()).toBeUndefined()
    await market.list(1)
    await market.followAll()
    expect(await market.rankOf()).toBe(rank([500_000, 1], [500_000, 0.25]))
  })
})

describe('the rank of a merchant', () => {
  it('is that of its products, each as often as it was bought', async () => {
    await market.enterMerchant()
    await market.list(2)
    await market.list(3)
    await market.say({ product: 1, satisfaction: 1 })
    await market.say({ product: 3, satisfaction: 0 })
    await market.followAll()
    expect(await market.merchantRank()).toBeNull()
    for (const number of [1, 2, 1, 1]) await market.buy(number)
    await market.followAll()
    expect(await market.merchantRank()).toBeCloseTo((3 * rank([500_000, 1]) + 0.5) / 4, 12)
  })

  it('is there for a merchant who registers after its sales', async () => {
    await market.buy()
    await market.say()
    await market.followAll()
    await market.enterMerchant()
    await market.followAll()
    expect(await market.merchantRank()).toBe(rank([500_000, 1]))
  })
})

describe('a new day', () => {
  it('fixes the mean that products begin from, and every rank follows', async () => {
    await market.enterMerchant()
    await market.list(2)
    await market.say({ weight: 1_000_000 })
    await market.buy(2)
    await market.followAll()
    expect(await market.rankOf(2)).toBe(0.5)
    market.clock.day += 1
    await market.followAll()
    const mean = rank([1_000_000, 1])
    expect(await market.rankOf(2)).toBe(mean)
    expect(await market.merchantRank()).toBe(mean)
    expect(await market.rankOf(1)).toBe(Math.round(((5e6 * mean + 1e6) / 6e6) * 1e6) / 1e6)
  })

  it('has one mean, whatever is said later that day', async () => {
    await market.followAll()
    await market.say()
    market.clock.day += 1
    // The opinion that begins the day is not part of its mean.
    await market.followAll()
    expect(await market.rankOf()).toBe(rank([500_000, 1]))
    await market.list(2)
    await market.followAll()
    expect(await market.rankOf(2)).toBe(0.5)
  })

  it('does not end because a clock goes back', async () => {
    await market.say()
    market.clock.day += 1
    await market.followAll()
    market.clock.day += 1
    await market.followAll()
    const ranks = await market.rankOf()
    market.clock.day -= 2
    expect(await market.once()).toBe(false)
    await market.say({ owner: 2, weight: 0 })
    await market.followAll()
    expect(await market.rankOf()).toBe(ranks)
    const [{ day } = { day: 0 }] = await database.sql<{ day: number }[]>`
      SELECT day FROM market.opinion_totals WHERE chain_id = ${market.chainId}`
    expect(day).toBe(market.clock.day + 2)
  })

  it('is brought to more products than fit into a batch', async () => {
    await database.sql`
      INSERT INTO market.products (chain_id, merchant_id, product_id)
      SELECT ${market.chainId}, ${MERCHANT}, int4send(n) FROM generate_series(1, 1100) AS n`
    await market.say({ weight: 1_000_000 })
    await market.followAll()
    market.clock.day += 1
    let passes = 0
    while (await market.once()) passes += 1
    // Three batches of products; after each, one batch of the changes that their new ranks queued.
    expect(passes).toBe(6)
    const { count } = await database.sql`
      SELECT FROM market.products WHERE chain_id = ${market.chainId} AND rank = ${rank([1_000_000, 1])}`
    expect(count).toBe(1_100)
  })
})

it('leaves other chains alone', async () => {
  const other = smallMarket(database.sql, ++chains)
  await other.list(1)
  await other.say({ satisfaction: 0 })
  await market.say()
  await market.followAll()
  expect(await other.rankOf()).toBe(0.5)
  expect(await other.speakers()).toEqual({})
  await other.followAll()
  expect(await market.rankOf()).toBe(rank([500_000, 1]))
})

it('makes everything again after it was forgotten, and the mean of the day stays', async () => {
  await market.enterMerchant()
  await market.say({ weight: 1_000_000 })
  await market.buy()
  await market.followAll()
  market.clock.day += 1
  await market.followAll()
  const before = await market.rankOf()
  await database.sql.begin((tx) => forgetOpinions(tx, market.chainId, new Date()))
  expect([await market.rankOf(), await market.merchantRank()]).toEqual([0.5, null])
  await database.sql`
    INSERT INTO market.pending_changes (chain_id, what, subject)
    SELECT chain_id, 'review', internal_id FROM chain.reviews WHERE chain_id = ${market.chainId}`
  await market.followAll()
  expect([await market.rankOf(), await market.merchantRank()]).toEqual([before, before])
})
