import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { dayOf, deflate, HALF_LIFE_DAYS, inflate, MILLION } from '@referrer/ranking'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { account, createHistory, type History, type Product } from './testing.ts'

/** Owner n owns agent n. The shop 900 belongs to owner 50. */
const [AUTHOR, BUYER, OTHER, SELLER] = [1, 2, 3, 50]
const SHOP = 900

let database: TestDatabase
let chainId = 0
let h: History
let product: Product

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

beforeEach(async () => {
  chainId += 1
  h = createHistory(database.sql, chainId)
  for (const number of [AUTHOR, BUYER, OTHER]) await h.agent(number, number)
  await h.agent(SHOP, SELLER)
  product = await h.product(0, SHOP)
})

/** The sales of an agent under an owner, and what its supporters paid, on the present day. */
async function totals(agentId = AUTHOR, owner = AUTHOR) {
  await h.follow()
  const [row] = await h.sql<{ sales: bigint; support: bigint }[]>`
    SELECT sum(sales) AS sales, sum(paid) AS support FROM market.author_money
    WHERE chain_id = ${chainId} AND agent_id = ${agentId} AND owner = ${account(owner)} HAVING count(*) > 0`
  const day = dayOf(new Date(h.clock.now))
  return row && { sales: deflate(row.sales, day), support: deflate(row.support, day) }
}

/** What each owner spent at each shop, on the present day. */
async function spent() {
  await h.follow()
  const rows = await h.sql<{ owner: Buffer; merchant_id: bigint; spent: bigint }[]>`
    SELECT owner, merchant_id, spent FROM market.spent_at_shops WHERE chain_id = ${chainId} ORDER BY owner, merchant_id`
  const day = dayOf(new Date(h.clock.now))
  return rows.map((row) => [Number.parseInt(row.owner.toString('hex'), 16), deflate(row.spent, day)])
}

const rankRow = async (agentId = AUTHOR) => {
  await h.follow()
  const [row] = await h.sql<{ repeat: number | null; standing_pass: bigint }[]>`
    SELECT repeat, standing_pass FROM market.review_ranks WHERE chain_id = ${chainId} AND agent_id = ${agentId}`
  return row && { ...row }
}

/**
 * A purchase of 100,000 with a commission of 4,000, of a product that pays five percent. Null: through the link of an
 * unknown review.
 */
const buy = (link: bigint | null, buyer: number | null = BUYER, price = 100_000n) =>
  h.buy(product, buyer, { ...(link && { link }), price, commission: (price * 4n) / 100n })

/** The buyer agrees with the review whose link it followed. */
const answer = (purchase: number, agrees = true, buyer = BUYER) =>
  h.review(buyer, product, { purchase, opinion: { size: MILLION, weight: MILLION, agrees } })

describe('sales', () => {
  it('are the commission at rank 1 of all purchases through one’s links, whoever bought', async () => {
    const link = await h.review(AUTHOR, product)
    await buy(link)
    expect(await totals()).toEqual({ sales: 5_000, support: 0 })
    await buy(link, null)
    await buy(link, AUTHOR)
    expect(await totals()).toEqual({ sales: 15_000, support: 0 })
  })

  it('fade from the day of the purchase', async () => {
    await buy(await h.review(AUTHOR, product))
    expect(await totals()).toEqual({ sales: 5_000, support: 0 })
    h.pass(HALF_LIFE_DAYS)
    expect(await totals()).toEqual({ sales: 2_500, support: 0 })
  })

  it('alone make no rank', async () => {
    await buy(await h.review(AUTHOR, product))
    expect(await totals()).toBeDefined()
    expect(await rankRow()).toBeUndefined()
  })

  it('stay with the commission of their time, also when all is counted again', async () => {
    const link = await h.review(AUTHOR, product)
    const purchase = await buy(link)
    await h.follow()
    await h.offer(product, 100)
    await h.bind(purchase, OTHER)
    expect(await totals()).toEqual({ sales: 5_000, support: 0 })
    await buy(link)
    expect(await totals()).toEqual({ sales: 6_000, support: 0 })
  })

  it('go with the purchase and with the review, and come back with them', async () => {
    const link = await h.review(AUTHOR, product)
    const purchase = await buy(link)
    expect(await totals()).toEqual({ sales: 5_000, support: 0 })
    await h.undo(purchase)
    expect(await totals()).toBeUndefined()
    await h.redo(purchase, product, BUYER)
    expect(await totals()).toEqual({ sales: 5_000, support: 0 })
    await h.unpublish(link)
    expect(await totals()).toBeUndefined()
  })

  it('go when the review gets another id on the chain between two looks', async () => {
    const link = await h.review(AUTHOR, product)
    await buy(link)
    expect(await totals()).toEqual({ sales: 5_000, support: 0 })
    await h.unpublish(link)
    await h.publish(link)
    expect(await totals()).toBeUndefined()
  })

  it('are those of the owner when it sold, whoever owned the author at publication', async () => {
    const link = await h.review(AUTHOR, product)
    await buy(link)
    h.pass()
    await h.transfer(AUTHOR, 7)
    h.pass()
    const purchase = await buy(link, BUYER, 200_000n)
    await answer(purchase)
    expect(await totals()).toEqual({ sales: 5_000, support: 96_000 })
    expect(await totals(AUTHOR, 7)).toEqual({ sales: 10_000, support: 0 })
  })
})

describe('support', () => {
  it('comes from the buyer who agrees, as long as its review is published', async () => {
    const purchase = await buy(await h.review(AUTHOR, product))
    const review = await answer(purchase)
    expect(await totals()).toEqual({ sales: 5_000, support: 48_000 })
    await h.unpublish(review)
    expect(await totals()).toEqual({ sales: 5_000, support: 0 })
    await h.publish(review)
    expect(await totals()).toEqual({ sales: 5_000, support: 48_000 })
  })

  it('fades from the day of the purchase, and not from that of the review or vote', async () => {
    const purchase = await buy(await h.review(AUTHOR, product))
    const voted = await h.review(OTHER, product)
    h.pass(HALF_LIFE_DAYS)
    await answer(purchase)
    await h.cast(purchase, BUYER, [voted], { supports: true })
    expect(await totals()).toEqual({ sales: 2_500, support: 24_000 })
    expect(await totals(OTHER, OTHER)).toEqual({ sales: 0, support: 24_000 })
  })

  it('comes from votes, also from those without weight', async () => {
    const voted = await h.review(AUTHOR, product)
    const purchase = await buy(await h.review(OTHER, product))
    await h.cast(purchase, BUYER, [voted], { weight: 0, supports: true })
    expect(await totals()).toEqual({ sales: 0, support: 48_000 })
    expect(await rankRow()).toBeUndefined()
    await h.bind(purchase, OTHER)
    expect(await totals()).toBeUndefined()
  })

  it('goes while the buyer or voter is flagged, and the sales stay', async () => {
    const purchase = await buy(await h.review(AUTHOR, product))
    await answer(purchase)
    const voted = await h.review(OTHER, product)
    await h.cast(purchase, BUYER, [voted], { weight: 0, supports: true })
    expect(await totals(OTHER, OTHER)).toEqual({ sales: 0, support: 48_000 })
    await h.flag(BUYER, true)
    expect(await totals()).toEqual({ sales: 5_000, support: 0 })
    expect(await totals(OTHER, OTHER)).toBeUndefined()
    await h.flag(BUYER, false)
    expect(await totals()).toEqual({ sales: 5_000, support: 48_000 })
    expect(await totals(OTHER, OTHER)).toEqual({ sales: 0, support: 48_000 })
  })

  it('is counted once, however often a change is repeated', async () => {
    const purchase = await buy(await h.review(AUTHOR, product))
    const review = await answer(purchase)
    await h.follow()
    await h.sql`
      INSERT INTO market.pending_changes (chain_id, what, contract, payer, nonce, merchant_id, product_id)
      SELECT chain_id, 'purchase', contract, payer, nonce, merchant_id, product_id FROM chain.escrows WHERE chain_id = ${chainId}`
    await h.find(review, 'confirmed')
    expect(await totals()).toEqual({ sales: 5_000, support: 48_000 })
  })

  describe('from before it was stored', () => {
    const oldAnswer = async (satisfaction: number, said: number) => {
      const link = await h.review(AUTHOR, product, { satisfaction })
      const purchase = await buy(link)
      const review = await h.review(BUYER, product, {
        purchase,
        satisfaction: said,
        opinion: { size: MILLION, weight: MILLION, agrees: null },
      })
      return { link, review }
    }

    it('is half of what the shop got if the ratings are near', async () => {
      await oldAnswer(0.75, 0.5)
      expect(await totals()).toEqual({ sales: 5_000, support: 48_000 })
    })

    it('is nothing if they are far apart', async () => {
      await oldAnswer(0.75, 0.25)
      expect(await totals()).toEqual({ sales: 5_000, support: 0 })
    })

    it('is fixed when it is first counted, whatever becomes of the ratings', async () => {
      const { link, review } = await oldAnswer(0.75, 0.75)
      expect(await totals()).toEqual({ sales: 5_000, support: 48_000 })
      await h.edit(link, 0)
      await h.edit(review, 1)
      expect(await totals()).toEqual({ sales: 5_000, support: 48_000 })
    })

    it('is nothing at a shop of the author’s owner', async () => {
      await h.transfer(SHOP, AUTHOR)
      await oldAnswer(0.75, 0.75)
      expect(await totals()).toEqual({ sales: 5_000, support: 0 })
    })

    it('of a vote is its part of half of what the shop got', async () => {
      const voted = [await h.review(AUTHOR, product), await h.review(OTHER, product)]
      await h.cast(await buy(null), BUYER, voted, { weight: 1, supports: null })
      expect(await totals()).toEqual({ sales: 0, support: 24_000 })
      await h.cast(await buy(null), BUYER, voted, { weight: 0, supports: null })
      expect(await totals()).toEqual({ sales: 0, support: 24_000 })
    })
  })
})

describe('spending', () => {
  it('is what the shop got, at most thirty full commissions a purchase', async () => {
    await buy(null)
    await buy(null, BUYER, 50_000n)
    await buy(null, OTHER, 10_000_000n)
    expect(await spent()).toEqual([
      [BUYER, 144_000],
      [OTHER, 300_000],
    ])
  })

  it('is nothing at a shop of one’s own, by who owned it at that time', async () => {
    await h.transfer(SHOP, BUYER)
    h.pass()
    await buy(null)
    h.pass()
    await h.transfer(SHOP, SELLER)
    h.pass()
    await buy(null, BUYER, 50_000n)
    expect(await spent()).toEqual([[BUYER, 48_000]])
    await h.transfer(SHOP, BUYER)
    expect(await spent()).toEqual([[BUYER, 48_000]])
  })

  it('leaves no row when the purchase is gone', async () => {
    const purchase = await buy(null)
    expect(await spent()).toEqual([[BUYER, 96_000]])
    await h.undo(purchase)
    expect(await spent()).toEqual([])
  })

  it('is that of the owner who bought, also if the purchase is bound to another agent later', async () => {
    const purchase = await buy(null, null)
    const [[payer] = []] = await spent()
    await h.bind(purchase, OTHER)
    expect(await spent()).toEqual([[payer, 96_000]])
  })
})

describe('with standings, a rank', () => {
  const vote = async () => {
    const review = await h.review(AUTHOR, product)
    // What was paid covers all that is sold in these tests.
    await h.cast(await buy(null, BUYER, 10_000_000n), BUYER, [review], { supports: true })
    return review
  }
  const verified = { [SHOP]: { standing: MILLION, isVerified: true } }

  it('is computed again for everybody when there is a new pass', async () => {
    await vote()
    expect(await rankRow()).toEqual({ repeat: 7 / 13, standing_pass: 0n })
    await h.stand({ owners: { [AUTHOR]: 640_000 }, shops: verified })
    const gain = 0.32768
    expect(await rankRow()).toEqual({ repeat: null, standing_pass: 1n })
    await vote()
    expect(await rankRow()).toEqual({
      repeat: expect.closeTo((6 + 2 * gain) / (12 + 2 * gain), 12),
      standing_pass: 1n,
    })
    await h.stand({})
    expect(await rankRow()).toEqual({ repeat: 8 / 14, standing_pass: 2n })
  })

  it('of an owner who has bought nothing counts in full', async () => {
    await vote()
    await h.stand({ owners: { [BUYER]: 0 }, shops: verified })
    expect(await rankRow()).toEqual({ repeat: 7 / 13, standing_pass: 1n })
  })

  it('is above the prior only as far as support covers sales, and ten full commissions more', async () => {
    const review = await h.review(AUTHOR, product)
    await h.cast(await buy(null), BUYER, [review], { supports: false })
    const covered = (support: number, sales: number) =>
      expect.closeTo(0.5 + (7 / 13 - 0.5) * (support / (1.26 * (sales + 100_000))) ** 2, 12)
    await h.stand({ shops: verified })
    expect(await rankRow()).toMatchObject({ repeat: 0.5 })
    const purchase = await buy(review)
    await answer(purchase)
    expect(await rankRow()).toMatchObject({ repeat: covered(48_000, 5_000) })
    await buy(review)
    expect(await rankRow()).toMatchObject({ repeat: covered(48_000, 10_000) })
  })

  it('is covered by a quarter of the spending, by its standing, at a shop that is not verified', async () => {
    const review = await h.review(AUTHOR, product)
    const purchase = await buy(review, BUYER, 1_000_000n)
    await h.cast(await buy(null, OTHER), OTHER, [review], { supports: false })
    await answer(purchase)
    const rank = async (standing: number) => {
      await h.stand({ shops: { [SHOP]: { standing }, 901: { standing: MILLION, isVerified: true } } })
      return (await rankRow())?.repeat
    }
    // Of 960,000 only thirty full commissions count as spending, and half of them are for the author of the link.
    const covered = (support: number) => 0.5 + (7 / 13 - 0.5) * (support / (1.26 * 150_000)) ** 2
    expect(await rank(800_000)).toBeCloseTo(covered(30_000), 12)
    expect(await rank(400_000)).toBeCloseTo(covered(15_000), 12)
    expect(await rank(0)).toBe(0.5)
  })

  it('below the prior needs no cover', async () => {
    const review = await h.review(AUTHOR, product)
    await h.find(review, 'contradicted')
    await buy(review)
    await h.stand({ shops: verified })
    expect(await rankRow()).toMatchObject({ repeat: 6 / 15 })
  })
})

it('adds inflated amounts', async () => {
  await buy(null)
  await h.follow()
  const [row] = await h.sql<{ spent: bigint }[]>`
    SELECT spent FROM market.spent_at_shops WHERE chain_id = ${chainId}`
  expect(row?.spent).toBe(inflate(96_000, dayOf(new Date(h.clock.now))))
})
