// What buyers searched for, from their reviews to the words of a listing, and what a ring can make of it.
import { type EscrowDeposit, type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from './caller.ts'
import { publishBuyerReview } from './escrows.ts'
import { openRecorded } from './merchants.ts'
import { publish, register, registered } from './reviews.ts'
import {
  asAdmin,
  buyThrough,
  FULL_PRICE,
  newcomer,
  newProduct,
  type Person,
  quiet,
  type Review,
  startTown,
  type Town,
  write,
} from './town.ts'

/** The words of another product, by which a ring wants its own to be found. */
const STOLEN = 'hourly weather forecast'
/** A tenth is commission, of which at least one base unit is the platform's. */
const LEAST_PRICE = 100n

let town: Town

beforeAll(async () => {
  town = await startTown()
})
afterAll(() => town.m.close())

const reviewOf = (searched_for: unknown) =>
  JSON.stringify({ rating: 5, description: 'As it was', searched_for })

/** A product of the town's shop with a review to buy through, by somebody else. */
const newLink = async (product?: Product): Promise<Review> =>
  write(town.m, await newcomer(town.m), product ?? (await newProduct(town)))

/** A shop of this person with a product and a review to buy through. */
async function newShop({ owner }: Person): Promise<Review> {
  const of = await openRecorded(town.m, owner)
  return newLink(await newProduct(town, { of, account: owner }))
}

const people = (count: number) => Promise.all(Array.from({ length: count }, () => newcomer(town.m)))

/** Another agent of the same owner. */
const another = async ({ owner }: Person): Promise<Person> => ({
  owner,
  agentId: await registerIdentity(town.m.market, owner),
})

async function tell({ owner }: Person, deposit: EscrowDeposit, searchedFor: unknown) {
  const body = await publishBuyerReview(town.m, owner, deposit, reviewOf(searchedFor))
  await town.m.indexed()
  return register(town.m, body)
}

/** All buy before the first of them says something, so that nobody has to vote first. */
async function buyAndTell(link: Review, buyers: readonly Person[], searchedFor: string, price = FULL_PRICE) {
  const deposits: EscrowDeposit[] = []
  for (const buyer of buyers) deposits.push(await buyThrough(town.m, buyer, link, { price }))
  for (const [at, buyer] of buyers.entries())
    await must(tell(buyer, deposits[at] as EscrowDeposit, searchedFor))
  return deposits
}

/** The words by which buyers searched, when everything is followed and judged by the newest standings. */
async function searches({ product: { merchantId, productId } }: Review): Promise<string> {
  const { sql } = town.m
  await quiet(town.m)
  await until(async () => {
    const { count } = await sql`
      SELECT FROM market.shop_verifications
      WHERE verification_id > (SELECT coalesce(max(verification_id), 0) FROM market.standing_passes)
      UNION ALL
      SELECT FROM market.searched_words
      WHERE counts AND standing_pass < (SELECT coalesce(max(pass), 0) FROM market.standing_passes)`
    return count === 0
  }, 'the newest standings')
  await quiet(town.m)
  const [row] = await sql<{ searches: string }[]>`
    SELECT searches FROM market.listings
    WHERE merchant_id = ${merchantId} AND '0x' || encode(product_id, 'hex') = ${productId}`
  return row?.searches ?? 'not listed'
}

/** Verifies a shop, which begins a new pass. */
const verify = (merchantId: bigint) => must(asAdmin(town.m, `shops/${merchantId}/verify`, { note: 'Known.' }))
async function beginPass(): Promise<void> {
  const merchantId = await openRecorded(town.m, (await newcomer(town.m)).owner)
  await town.m.indexed()
  await verify(merchantId)
}

describe('what a buyer searched for', () => {
  it('is public like the rest of its review, and its words are listed once a second buyer says them', async () => {
    const link = await newLink()
    const [first, second] = (await people(2)) as [Person, Person]
    const deposits = [await buyThrough(town.m, first, link), await buyThrough(town.m, second, link)]
    const told = await must(tell(first, deposits[0] as EscrowDeposit, 'Sunset in Tokyo, as JSON'))
    expect(await searches(link)).toBe('')
    const { content_json } = await must(town.m.call('GET', `/v1/review-internal/${told.review_id}`))
    expect(content_json.searched_for).toBe('Sunset in Tokyo, as JSON')
    await must(tell(second, deposits[1] as EscrowDeposit, 'when is the sunset in tokyo'))
    expect(await searches(link)).toBe('sunset sunset tokyo tokyo')
  })

  const check = async (searchedFor: unknown) => {
    const { merchantId, productId } = (await newLink()).product
    const content_json = reviewOf(searchedFor)
    const body = { merchant_id: Number(merchantId), product_id: productId, content_json }
    return must(town.m.call('POST', '/v1/review/check', { body }))
  }

  it.each([
    ['null', null],
    ['a number', 7],
    ['a list', ['weather']],
    ['an object', { text: 'weather' }],
    ['an empty text', ''],
    ['two characters', 'ab'],
    ['two characters and spaces', '  ab  '],
    ['201 characters', 'a'.repeat(201)],
  ])('is refused as %s', async (_what, value) => {
    const problem = 'searched_for must be a text of 3 to 200 characters, or be left out: invalid input'
    expect(await check(value)).toMatchObject({ valid: false, problem })
  })

  it.each([
    ['left out', undefined],
    ['three characters', '日本語'],
    ['200 characters', '😀'.repeat(200)],
  ])('may be %s', async (_what, value) => {
    expect(await check(value)).toEqual({ valid: true })
  })

  it('is refused where a published review is registered with it', async () => {
    const link = await newLink()
    const buyer = await newcomer(town.m)
    const deposit = await buyThrough(town.m, buyer, link)
    expect(await tell(buyer, deposit, null)).toMatchObject({ status: 400 })
    expect(await searches(link)).toBe('')
  })
})

describe('while no shop is verified, a ring does not teach the index', () => {
  it('by many wallets and agents of one owner', async () => {
    const link = await newLink()
    const owner = await newcomer(town.m)
    const agents = [owner, await another(owner), await another(owner), await another(owner)]
    await buyAndTell(link, agents, STOLEN, LEAST_PRICE)
    expect(await searches(link)).toBe('')
  })

  it('by many owners who bought nothing', async () => {
    const link = await newLink()
    for (const author of await people(4)) {
      const content = reviewOf(STOLEN)
      const reviewId = await publish(town.m.market, { ...author, product: link.product, content })
      await town.m.indexed()
      await registered(town.m, reviewId, content)
    }
    expect(await searches(link)).toBe('')
  })

  it('by agents of the owner of the shop', async () => {
    const merchant = await newcomer(town.m)
    const link = await newShop(merchant)
    const [stranger] = (await people(1)) as [Person]
    const buyers = [merchant, await another(merchant), await another(merchant)]
    await buyAndTell(link, [...buyers, stranger], STOLEN, LEAST_PRICE)
    expect(await searches(link)).toBe('')
  })

  it('for less than two owners with a purchase each: at a shop of its own that costs the platform’s fee', async () => {
    const link = await newShop(await newcomer(town.m))
    const deposits = await buyAndTell(link, await people(2), STOLEN, LEAST_PRICE)
    expect(await searches(link)).toBe('forecast forecast hourly hourly weather weather')
    expect(deposits.map(({ fee }) => fee)).toEqual([1n, 1n])
  })
})

// These come last: standings stay on.
describe('when a shop is verified', () => {
  let verified: Review

  beforeAll(async () => {
    verified = await newLink()
    await verify(town.merchantId)
    await searches(verified)
  })

  it('a single buyer there is heard, from the next standings on', async () => {
    const link = await newLink()
    await buyAndTell(link, await people(1), 'sunset in Tokyo')
    expect(await searches(link)).toBe('')
    await beginPass()
    expect(await searches(link)).toBe('sunset tokyo')
  })

  it('a ring that buys at its own shop is not, however many they are', async () => {
    const link = await newShop(await newcomer(town.m))
    await buyAndTell(link, await people(6), STOLEN, LEAST_PRICE)
    expect(await searches(link)).toBe('')
    await beginPass()
    expect(await searches(link)).toBe('')
  })

  it('a member is heard that pays strangers at verified shops about three times what it pays there', async () => {
    const link = await newShop(await newcomer(town.m))
    const member = await newcomer(town.m)
    await buyAndTell(link, [member], STOLEN)
    await buyThrough(town.m, member, verified, { price: 2n * FULL_PRICE })
    await beginPass()
    expect(await searches(link)).toBe('')
    await buyThrough(town.m, member, verified, { price: FULL_PRICE })
    await beginPass()
    expect(await searches(link)).toBe('forecast hourly weather')
  })
})
