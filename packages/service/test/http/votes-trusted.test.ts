// What votes and opinions are worth by the standings of buyers and shops, through the real doors.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bytesOf } from '../../src/machinery/db/bytes.ts'
import { must } from './caller.ts'
import { vote } from './commitments.ts'
import { NO_WORK } from './market.ts'
import {
  buyThrough,
  newcomer,
  newProduct,
  type Person,
  type Review,
  startTown,
  support,
  type Town,
  tell,
  write,
} from './town.ts'

let town: Town
let buyer: Person
/** The review whose link is followed, with five stars, and one to vote for. */
let link: Review
let voted: Review

beforeAll(async () => {
  // Nobody computes standings: the test writes them.
  town = await startTown(NO_WORK)
})
afterAll(() => town.m.close())

beforeEach(async () => {
  const { m } = town
  await stand({})
  buyer = await newcomer(m)
  link = await write(m, await newcomer(m), await newProduct(town))
  voted = await write(m, await newcomer(m), link.product)
})

interface Standing {
  /** In millionths; null: the owner has bought nothing. */
  owner?: number | null
  shop?: number
  isVerified?: boolean
}

/** Writes standings as a pass does. Without a shop there is none that is verified. */
async function stand({ owner = null, shop, isVerified = false }: Standing): Promise<void> {
  const { m, merchantId } = town
  await m.sql.begin(async (tx) => {
    await tx`DELETE FROM market.owner_standings`
    await tx`DELETE FROM market.shop_standings`
    if (owner !== null)
      await tx`INSERT INTO market.owner_standings VALUES (${m.chainId}, ${bytesOf(buyer.owner.address)}, ${owner})`
    if (shop !== undefined)
      await tx`INSERT INTO market.shop_standings VALUES (${m.chainId}, ${merchantId}, ${shop}, ${isVerified})`
    await tx`
      INSERT INTO market.standing_passes
        (chain_id, pass, day, as_of_block, verification_id, verified, owners, shops, computed_at, took_ms)
      SELECT ${m.chainId}, coalesce(max(pass), 0) + 1, 0, 0, 0, ${shop === undefined ? 0 : 1}, 0, 0, now(), 0
      FROM market.standing_passes`
  })
}

/** The newest vote for the review. */
async function voteFor({ internalId }: Review) {
  const [row] = await town.m.sql`
    SELECT weight, supports, voter_standing, shop_standing FROM market.votes
    WHERE review_internal_id = ${internalId} ORDER BY ballot_id DESC LIMIT 1`
  return { ...row }
}

async function opinionOf({ internalId }: Review) {
  const [row] = await town.m.sql`
    SELECT opinion_size, opinion_weight, opinion_agrees FROM market.reviews WHERE internal_id = ${internalId}`
  return { ...row }
}

const castVote = () => support(town.m, buyer, link, [voted])
/** Buys, votes, and reviews. */
async function buyAndSay(rating: number): Promise<Review> {
  const { m } = town
  const deposit = await buyThrough(m, buyer, link)
  const { owner, agentId } = buyer
  await must(vote(m, owner, { agentId, escrowId: deposit.escrowId, votes: [voted.internalId] }))
  return tell(m, buyer, deposit, rating)
}

describe('a vote', () => {
  it('counts in full while no shop is verified', async () => {
    await castVote()
    expect(await voteFor(voted)).toEqual({
      weight: 625_000,
      supports: true,
      voter_standing: null,
      shop_standing: null,
    })
  })

  it('counts by the standing of the voter’s owner and of the shop', async () => {
    await stand({ owner: 400_000, shop: 1_000_000, isVerified: true })
    await castVote()
    expect(await voteFor(voted)).toEqual({
      weight: Math.round(0.625 * 31_250),
      supports: true,
      voter_standing: 400_000,
      shop_standing: 1_000_000,
    })
  })

  it('of an owner who had bought nothing before counts by the standing of the shop', async () => {
    await stand({ owner: null, shop: 800_000 })
    await castVote()
    expect(await voteFor(voted)).toEqual({
      weight: 625_000,
      supports: true,
      voter_standing: null,
      shop_standing: 800_000,
    })
  })

  it('weighs nothing at a shop without standing', async () => {
    await stand({ owner: 1_000_000, shop: 0 })
    await castVote()
    expect(await voteFor(voted)).toMatchObject({ weight: 0, shop_standing: 0 })
  })
})

describe('an opinion', () => {
  it('agrees with the review whose link was followed, and counts in full while no shop is verified', async () => {
    const review = await buyAndSay(4)
    expect(await opinionOf(review)).toEqual({
      opinion_size: 1_000_000,
      opinion_weight: 500_000,
      opinion_agrees: true,
    })
  })

  it('does not agree if it differs by more than a quarter', async () => {
    const review = await buyAndSay(3)
    expect(await opinionOf(review)).toMatchObject({ opinion_size: 1_000_000, opinion_agrees: false })
  })

  it('counts by the standings', async () => {
    await stand({ owner: 640_000, shop: 400_000 })
    const review = await buyAndSay(5)
    expect(await opinionOf(review)).toEqual({
      opinion_size: 327_680,
      opinion_weight: 163_840,
      opinion_agrees: true,
    })
  })
})
