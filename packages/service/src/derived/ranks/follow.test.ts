import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { BASE_RATES, dayOf, FINDINGS_OF_EACH, HALF_LIFE_DAYS, MILLION } from '@referrer/ranking'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { asIndexer } from '../../testing/records.ts'
import { account, createHistory, type History, type Product } from './testing.ts'

const AUTHOR = 1
/** Owner n owns agent n; owner 8 also owns agent 9. */
const [VOTER, OTHER, THIRD] = [2, 3, 4]

let database: TestDatabase
let chainId = 0
let h: History
let repeat: Product
let oneOff: Product

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

beforeEach(async () => {
  chainId += 1
  h = createHistory(database.sql, chainId)
  for (const number of [AUTHOR, VOTER, OTHER, THIRD, 5, 6, 7, 8]) await h.agent(number, number)
  await h.agent(9, 8)
  repeat = await h.product(0)
  oneOff = await h.product(1)
})

/** Buys and votes. Returns the purchase. */
async function vote(voter: number, reviewIds: bigint[], weight = MILLION): Promise<number> {
  h.pass()
  const purchase = await h.buy(repeat, voter)
  await h.cast(purchase, voter, reviewIds, { weight })
  return purchase
}

const ranks = async (agentId = AUTHOR) => {
  await h.follow()
  const [row] = await h.sql<{ repeat: number | null; one_off: number | null }[]>`
    SELECT repeat, one_off FROM market.review_ranks WHERE chain_id = ${chainId} AND agent_id = ${agentId}`
  return row
}
/** The evidence of the present day by kind, in votes of full weight. */
const evidence = async () => {
  await h.follow()
  const rows = await h.sql<{ kind: string; review: bigint; voter: bigint | null; weight: number }[]>`
    SELECT kind, review_internal_id AS review, voter_agent_id AS voter, weight FROM market.rank_evidence
    WHERE chain_id = ${chainId} ORDER BY happened_at, source, review_internal_id`
  return rows.map((row) => ({ ...row }))
}
const counted = async () => (await evidence()).map(({ review }) => review)

/** The rank by the formula, for evidence of today. */
const ofRepeat = (gain: number, loss = 0) => expect.closeTo((6 + gain) / (12 + gain + loss), 12)
const ofOneOff = (gain: number, loss = 0) => expect.closeTo((5 + gain) / (12 + gain + loss), 12)

describe('votes', () => {
  it('raise the rank of their author in the type of the product alone', async () => {
    const review = await h.review(AUTHOR, repeat)
    await vote(VOTER, [review])
    expect(await ranks()).toEqual({ repeat: ofRepeat(1), one_off: null })
    await vote(OTHER, [await h.review(AUTHOR, oneOff)], MILLION / 2)
    expect(await ranks()).toEqual({ repeat: ofRepeat(1), one_off: ofOneOff(0.5) })
  })

  it('that weigh nothing count for nothing', async () => {
    await vote(VOTER, [await h.review(AUTHOR, repeat)], 0)
    expect(await evidence()).toEqual([])
    expect(await ranks()).toBeUndefined()
  })

  it('leave the author at its cold start until they weigh half a vote together', async () => {
    const review = await h.review(AUTHOR, repeat)
    await vote(VOTER, [review], MILLION / 2 - 1)
    expect(await ranks()).toEqual({ repeat: null, one_off: null })
    await vote(OTHER, [review], 1)
    expect(await ranks()).toEqual({ repeat: ofRepeat(0.5), one_off: null })
  })

  it('of one owner count once a review: the newest, whichever of its agents cast it', async () => {
    const review = await h.review(AUTHOR, repeat)
    await vote(8, [review], 400_000)
    expect(await ranks()).toMatchObject({ repeat: null })
    await vote(9, [review], 600_000)
    expect(await evidence()).toEqual([{ kind: 'vote', review, voter: 9n, weight: 600_000 }])
    expect(await ranks()).toMatchObject({ repeat: ofRepeat(0.6) })
  })

  it('of one owner for one author count three times: the fourth takes the place of the oldest', async () => {
    const reviews = [1, 2, 3, 4].map(() => h.review(AUTHOR, repeat))
    const [a, b, c, d] = (await Promise.all(reviews)) as [bigint, bigint, bigint, bigint]
    for (const review of [a, b, c]) await vote(VOTER, [review])
    expect(await counted()).toEqual([a, b, c])
    await vote(VOTER, [d])
    expect(await counted()).toEqual([b, c, d])
    await vote(OTHER, [a])
    expect(await counted()).toEqual([b, c, d, a])
    expect(await ranks()).toMatchObject({ repeat: ofRepeat(4) })
  })

  it('of one ballot are taken from its last review on when there is not room for all', async () => {
    const reviews = await Promise.all([1, 2, 3, 4].map(() => h.review(AUTHOR, repeat)))
    const [a, b, c, d] = reviews.toSorted((x, y) => (x < y ? -1 : 1)) as [bigint, bigint, bigint, bigint]
    await vote(VOTER, [d])
    await vote(VOTER, [c, a, b])
    expect(await counted()).toEqual([a, b, c])
    await vote(VOTER, [d])
    expect(await counted()).toEqual([b, c, d])
  })

  it('of one owner count three times for each type, each owner of the author, and each author', async () => {
    const cast = async (author: number, product: Product, times: number) => {
      for (let n = 0; n < times; n += 1) await vote(VOTER, [await h.review(author, product)])
    }
    await cast(AUTHOR, repeat, 4)
    await cast(AUTHOR, oneOff, 4)
    await cast(OTHER, repeat, 4)
    await h.transfer(AUTHOR, 7)
    await cast(AUTHOR, repeat, 4)
    expect(await evidence()).toHaveLength(12)
    expect(await ranks()).toEqual({ repeat: ofRepeat(3), one_off: null })
    expect(await ranks(OTHER)).toMatchObject({ repeat: ofRepeat(3) })
  })

  it('count while the review is on the chain with its text', async () => {
    const review = await h.review(AUTHOR, repeat, { hasText: false })
    await vote(VOTER, [review])
    expect(await counted()).toEqual([])
    await h.bringText(review)
    expect(await counted()).toEqual([review])
    await h.unpublish(review)
    expect(await counted()).toEqual([])
    expect(await ranks()).toBeUndefined()
    await h.publish(review)
    expect(await ranks()).toMatchObject({ repeat: ofRepeat(1) })
  })

  it('count while the purchase is on the chain, and the voter’s', async () => {
    const review = await h.review(AUTHOR, repeat)
    const purchase = await vote(VOTER, [review])
    expect(await counted()).toEqual([review])
    await h.bind(purchase, OTHER)
    expect(await counted()).toEqual([])
    await h.bind(purchase, VOTER)
    expect(await counted()).toEqual([review])
    await h.undo(purchase)
    expect(await counted()).toEqual([])
    expect(await database.sql`SELECT FROM market.rank_totals WHERE chain_id = ${chainId}`).toHaveLength(0)
  })

  it('count while the voter is not flagged', async () => {
    const review = await h.review(AUTHOR, repeat)
    await vote(8, [review])
    await vote(VOTER, [review])
    await h.flag(8, true)
    expect(await evidence()).toMatchObject([{ voter: BigInt(VOTER) }])
    await h.flag(9, true)
    await h.flag(8, false)
    expect(await evidence()).toHaveLength(2)
  })

  it('make room for older ones when they no longer count', async () => {
    const [a, b, c, d, e] = (await Promise.all([1, 2, 3, 4, 5].map(() => h.review(AUTHOR, repeat)))) as [
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
    ]
    await vote(8, [a])
    for (const review of [b, c, d]) await vote(9, [review])
    await vote(9, [d])
    expect(await counted()).toEqual([b, c, d])
    const last = await vote(9, [e])
    expect(await counted()).toEqual([c, d, e])
    await h.undo(last)
    expect(await counted()).toEqual([b, c, d])
    await h.unpublish(c)
    expect(await counted()).toEqual([a, b, d])
    await h.flag(9, true)
    expect(await counted()).toEqual([a])
    await h.publish(c)
    await h.flag(9, false)
    expect(await counted()).toEqual([b, c, d])
  })

  it('are found however many newer ones on the same reviews stand before them', async () => {
    const [a, b] = [await h.review(AUTHOR, repeat), await h.review(AUTHOR, repeat)]
    await vote(VOTER, [a])
    for (let n = 0; n < 40; n += 1) await vote(VOTER, [b])
    const last = await vote(VOTER, [b])
    await h.unpublish(a)
    expect(await counted()).toEqual([b])
    await h.publish(a)
    expect(await counted()).toEqual([a, b])
    await h.undo(last)
    expect(await counted()).toEqual([a, b])
  })
})

describe('findings', () => {
  it('raise a rank by two when they confirm, and lower it by three when they contradict, by the size of what they rest on', async () => {
    await h.find(await h.review(AUTHOR, repeat), 'confirmed')
    expect(await ranks()).toEqual({ repeat: ofRepeat(2), one_off: null })
    await h.find(await h.review(AUTHOR, oneOff), 'contradicted', 250_000)
    expect(await ranks()).toEqual({ repeat: ofRepeat(2), one_off: ofOneOff(0, 0.75) })
  })

  it('count as they are now', async () => {
    const review = await h.review(AUTHOR, repeat)
    await h.find(review, 'confirmed')
    expect(await ranks()).toMatchObject({ repeat: ofRepeat(2) })
    h.pass()
    await h.find(review, 'contradicted')
    expect(await ranks()).toMatchObject({ repeat: ofRepeat(0, 3) })
    await h.find(review, 'pending')
    expect(await ranks()).toBeUndefined()
  })

  it('of size nothing are none, and do not stand before others', async () => {
    const [a, b] = [await h.review(AUTHOR, repeat), await h.review(AUTHOR, repeat)]
    await h.find(a, 'contradicted')
    await h.find(b, 'contradicted', 0)
    expect(await counted()).toEqual([a])
  })

  it('count while they are disputed, and after it when they are upheld', async () => {
    const reviews = [await h.review(AUTHOR, repeat), await h.review(AUTHOR, await h.product(0))] as const
    for (const review of reviews) await h.find(review, 'contradicted')
    for (const review of reviews) await h.outcome(review, 'disputed')
    expect(await counted()).toEqual([...reviews])
    await h.resolve(reviews[0], true)
    await h.resolve(reviews[1], false)
    expect(await counted()).toEqual([reviews[0]])
  })

  it('count while the review is on the chain with its text', async () => {
    const review = await h.review(AUTHOR, repeat)
    await h.find(review, 'confirmed')
    expect(await counted()).toEqual([review])
    await h.unpublish(review)
    expect(await counted()).toEqual([])
    await h.publish(review)
    expect(await counted()).toEqual([review])
  })

  it('count once a product and outcome: the newest', async () => {
    const [a, b, c] = [
      await h.review(AUTHOR, repeat),
      await h.review(AUTHOR, repeat),
      await h.review(AUTHOR, repeat),
    ]
    await h.find(b, 'confirmed')
    await h.find(a, 'confirmed')
    expect(await counted()).toEqual([a])
    await h.find(c, 'contradicted')
    expect(await counted()).toEqual([a, c])
    await h.find(a, 'contradicted')
    expect(await counted()).toEqual([b, a])
    await h.unpublish(a)
    expect(await counted()).toEqual([b, c])
  })

  it('count ten times each: the eleventh takes the place of the oldest', async () => {
    const reviews: bigint[] = []
    for (let n = 0; n <= FINDINGS_OF_EACH; n += 1) {
      reviews.push(await h.review(AUTHOR, await h.product(0)))
      h.pass()
      await h.find(reviews[n] as bigint, 'confirmed')
      if (n === FINDINGS_OF_EACH - 1) expect(await counted()).toEqual(reviews)
    }
    expect(await counted()).toEqual(reviews.slice(1))
    const against = await h.review(AUTHOR, await h.product(0))
    h.pass()
    await h.find(against, 'contradicted')
    expect(await ranks()).toMatchObject({ repeat: ofRepeat(2 * FINDINGS_OF_EACH, 3) })
    await h.unpublish(reviews[5] as bigint)
    expect(await counted()).toEqual([...reviews.filter((_, n) => n !== 5), against])
  })
})

describe('a rank', () => {
  it('is of what was earned under the present owner, and comes back with the owner', async () => {
    await vote(VOTER, [await h.review(AUTHOR, repeat)])
    expect(await ranks()).toMatchObject({ repeat: ofRepeat(1) })
    await h.transfer(AUTHOR, 7)
    expect(await ranks()).toBeUndefined()
    await vote(VOTER, [await h.review(AUTHOR, oneOff)])
    expect(await ranks()).toEqual({ repeat: null, one_off: ofOneOff(1) })
    await h.transfer(AUTHOR, AUTHOR)
    expect(await ranks()).toEqual({ repeat: ofRepeat(1), one_off: null })
  })

  it('follows a review that turns out to have been published under another owner, one ballot at a time', async () => {
    const review = await h.review(AUTHOR, repeat)
    await vote(8, [review], 600_000)
    await vote(9, [review], 700_000)
    await h.follow()
    await h.publishedUnder(review, 7)
    expect(await ranks()).toBeUndefined()
    await h.transfer(AUTHOR, 7)
    expect(await ranks()).toMatchObject({ repeat: ofRepeat(0.7) })
    await h.publishedUnder(review, AUTHOR)
    await h.followOnce()
    // Only the older ballot is in the batch, while the newer one still counts under the former owner.
    const [newer] = await h.sql`
      DELETE FROM market.pending_changes WHERE chain_id = ${chainId} AND subject = (SELECT max(subject) FROM market.pending_changes WHERE chain_id = ${chainId})
      RETURNING chain_id, what, subject`
    await h.followOnce()
    await h.sql`INSERT INTO market.pending_changes ${h.sql(newer ?? {})}`
    await h.transfer(AUTHOR, AUTHOR)
    expect(await ranks()).toMatchObject({ repeat: ofRepeat(0.7) })
  })

  it('of a flagged agent is none, and comes back without the flag', async () => {
    await vote(VOTER, [await h.review(AUTHOR, repeat)])
    await h.follow()
    await h.flag(AUTHOR, true)
    expect(await ranks()).toEqual({ repeat: null, one_off: null })
    await vote(OTHER, [await h.review(AUTHOR, repeat)])
    expect(await ranks()).toEqual({ repeat: null, one_off: null })
    await h.flag(AUTHOR, false)
    expect(await ranks()).toEqual({ repeat: ofRepeat(2), one_off: null })
  })

  it('of an agent that is not on the chain is none', async () => {
    await vote(VOTER, [await h.review(AUTHOR, repeat)])
    expect(await ranks()).toBeDefined()
    await asIndexer(
      h.sql,
      (tx) => tx`DELETE FROM chain.identities WHERE chain_id = ${chainId} AND agent_id = ${AUTHOR}`,
    )
    expect(await ranks()).toBeUndefined()
  })

  it('fades by half in every half-life without anything happening, down to a cold start', async () => {
    await vote(VOTER, [await h.review(AUTHOR, repeat)])
    await h.find(await h.review(AUTHOR, oneOff), 'contradicted')
    expect(await ranks()).toEqual({ repeat: ofRepeat(1), one_off: ofOneOff(0, 3) })
    h.pass(HALF_LIFE_DAYS)
    expect(await ranks()).toEqual({ repeat: ofRepeat(0.5), one_off: ofOneOff(0, 1.5) })
    h.pass(1)
    expect(await ranks()).toMatchObject({ repeat: null })
    expect(await evidence()).toHaveLength(2)
  })

  it('is of the greatest day that it was computed for, should a clock be behind', async () => {
    await vote(VOTER, [await h.review(AUTHOR, repeat)])
    h.pass(90)
    const then = await ranks()
    h.pass(-10)
    await vote(VOTER, [await h.review(AUTHOR, oneOff)])
    expect(await ranks()).toMatchObject({ repeat: then?.repeat })
    const [row] = await h.sql`SELECT day FROM market.review_ranks WHERE chain_id = ${chainId}`
    expect(row?.day).toBe(dayOf(new Date(h.clock.now)) + 10)
  })

  it('that somebody wrote by hand goes with the first look', async () => {
    await h.sql`INSERT INTO market.review_ranks (chain_id, agent_id, repeat) VALUES (${chainId}, ${AUTHOR}, ${BASE_RATES.repeat})`
    expect(await ranks()).toBeUndefined()
  })

  it('is in the mean of its chain', async () => {
    await vote(VOTER, [await h.review(AUTHOR, repeat), await h.review(OTHER, repeat)])
    await vote(THIRD, [await h.review(AUTHOR, repeat)])
    await h.follow()
    const [sums] = await h.sql<{ mean: number }[]>`
      SELECT (repeat_sum / repeat_count)::float8 AS mean FROM market.rank_sums WHERE chain_id = ${chainId}`
    expect(sums?.mean).toBeCloseTo((7 / 13 + 8 / 14) / 2, 12)
  })
})

describe('a batch', () => {
  it('that is done twice changes nothing', async () => {
    const review = await h.review(AUTHOR, repeat)
    await vote(VOTER, [review])
    await h.find(review, 'confirmed')
    await h.follow()
    const read = () =>
      h.sql`SELECT *, r.xmin::text FROM market.review_ranks AS r JOIN market.rank_totals USING (chain_id, agent_id) WHERE chain_id = ${chainId}`
    const before = await read()
    await h.sql`
      INSERT INTO market.pending_changes (chain_id, what, subject)
      SELECT chain_id, 'ballot', ballot_id FROM market.ballots WHERE chain_id = ${chainId}
      UNION ALL SELECT chain_id, 'review', internal_id FROM market.reviews WHERE chain_id = ${chainId}
      UNION ALL SELECT chain_id, 'agent', agent_id FROM market.agents WHERE chain_id = ${chainId}`
    await h.follow()
    expect(before).toHaveLength(1)
    expect(await read()).toEqual(before)
  })

  it('does not bring up all votes on a review because something else about it changed', async () => {
    const review = await h.review(AUTHOR, repeat)
    for (const voter of [VOTER, OTHER, THIRD]) await vote(voter, [review])
    await h.follow()
    await h.find(review, 'confirmed')
    expect(await h.followOnce()).toBe(true)
    expect(await h.followOnce()).toBe(false)
  })

  it('leaves other chains alone', async () => {
    await vote(VOTER, [await h.review(AUTHOR, repeat)])
    await h.follow()
    const elsewhere = createHistory(database.sql, chainId + 1_000_000)
    await elsewhere.agent(AUTHOR, AUTHOR)
    await elsewhere.follow()
    expect(await ranks()).toMatchObject({ repeat: ofRepeat(1) })
    expect(await h.sql`SELECT FROM market.review_ranks WHERE chain_id = ${chainId + 1_000_000}`).toHaveLength(
      0,
    )
    const [row] = await h.sql<
      { owner: Buffer }[]
    >`SELECT owner FROM market.rank_totals WHERE chain_id = ${chainId}`
    expect(row?.owner).toEqual(account(AUTHOR))
  })
})
