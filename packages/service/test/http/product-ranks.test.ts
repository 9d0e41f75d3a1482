import { mintUsdc, type Product, registerIdentity } from '@referrer/contracts/local'
import { Attribution } from '@referrer/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from './caller.ts'
import type { TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import {
  buyAndTell,
  buyThrough,
  COLD_VOTE,
  edit,
  FULL_PRICE,
  newcomer,
  newProduct,
  type Person,
  quiet,
  type Review,
  readProduct,
  readRank,
  setFlag,
  startTown,
  support,
  type Town,
  write,
} from './town.ts'

const DAY_MS = 86_400_000
/** The weight of an opinion by an author without a rank, after a purchase that counts in full. */
const COLD = 0.5

let town: Town
let m: TestMarket
let author: Person
let buyers: [Person, Person, Person]

beforeAll(async () => {
  town = await startTown()
  ;({ m } = town)
  author = await newcomer(m)
  buyers = [await newcomer(m), await newcomer(m), await newcomer(m)]
})
afterAll(() => m.close())

/** A new product with the review that it is bought through. */
const newLink = async (options = {}): Promise<Review> => write(m, author, await newProduct(town, options))

async function rankOf(product: Product): Promise<number> {
  await quiet(m)
  return (await readProduct(m, product)).product_rank
}

/** The mean that products begin from on this day: the rank of a product without purchases. */
const meanOfDay = async () => rankOf(await newProduct(town))

type Opinion = [weight: number, satisfaction: number]

function posterior(mean: number, opinions: Opinion[]): number {
  const weight = opinions.reduce((sum, [weight]) => sum + weight, 5)
  const weighted = opinions.reduce((sum, [weight, satisfaction]) => sum + weight * satisfaction, 5 * mean)
  return Math.round((1e6 * weighted) / weight) / 1e6
}

describe('the rank of a product', () => {
  // Must be the first test with opinions: later ones would have to know all opinions before them.
  it('begins from the mean of all opinions, as it was when the day began [RANK-24]', async () => {
    const good = await newLink()
    const bad = await newLink()
    const [first, second, third] = buyers
    expect(await rankOf(good.product)).toBe(0.5)
    await buyAndTell(m, good, [
      [first, 5],
      [second, 4, FULL_PRICE / 2n],
      [third, 5],
    ])
    await buyAndTell(m, bad, [[first, 1]])
    const ofGood: Opinion[] = [
      [COLD, 1],
      [COLD / 2, 0.75],
      [COLD, 1],
    ]
    const ofBad: Opinion[] = [[COLD, 0]]
    expect(await rankOf(good.product)).toBe(posterior(0.5, ofGood))
    expect(await rankOf(bad.product)).toBe(posterior(0.5, ofBad))
    expect(await meanOfDay()).toBe(0.5)

    m.clock.aheadMs += DAY_MS
    const mean = posterior(0.5, [...ofGood, ...ofBad])
    await expect.poll(() => rankOf(good.product), { timeout: 50_000 }).toBe(posterior(mean, ofGood))
    await expect.poll(() => rankOf(bad.product), { timeout: 50_000 }).toBe(posterior(mean, ofBad))
    expect(await meanOfDay()).toBe(mean)
  })

  it('counts an opinion by the rank of its author at that moment', async () => {
    const link = await newLink()
    const mean = await meanOfDay()
    const [first, second] = buyers
    const ranked = await newcomer(m)
    const praised = await write(m, ranked, link.product)
    for (const voter of [first, second]) await support(m, voter, link, [praised])
    await quiet(m)
    const { rank } = (await readRank(m, ranked)).repeat
    const gained = 2 * COLD_VOTE.repeat
    expect(rank).toBeCloseTo((6 + gained) / (12 + gained), 9)
    await buyAndTell(m, link, [[ranked, 5]])
    const weight = Math.round(1e6 * rank) / 1e6
    expect(await rankOf(link.product)).toBe(posterior(mean, [[weight, 1]]))
  })

  it('counts one opinion of an owner, the newest, and what it says now', async () => {
    const link = await newLink()
    const mean = await meanOfDay()
    const [first] = buyers
    const { owner } = first
    const sibling = { owner, agentId: await registerIdentity(m.market, owner) }
    const [, newer] = await buyAndTell(m, link, [
      [first, 5],
      [sibling, 2, FULL_PRICE / 4n],
    ])
    expect(await rankOf(link.product)).toBe(posterior(mean, [[COLD / 4, 0.25]]))
    if (!newer) throw new Error('there are two')
    await edit(m, newer, 4)
    expect(await rankOf(link.product)).toBe(posterior(mean, [[COLD / 4, 0.75]]))
  })

  it("does not count the merchant's own word, nor that of a flagged agent while it is flagged", async () => {
    const link = await newLink()
    const mean = await meanOfDay()
    const { merchant } = m.market.accounts
    await mintUsdc(m.market, merchant.address, FULL_PRICE)
    const ofSeller = { owner: merchant, agentId: await registerIdentity(m.market, merchant) }
    const [first, second] = buyers
    await buyAndTell(m, link, [
      [ofSeller, 5],
      [first, 4],
      [second, 1],
    ])
    const both: Opinion[] = [
      [COLD, 0.75],
      [COLD, 0],
    ]
    expect(await rankOf(link.product)).toBe(posterior(mean, both))
    await setFlag(m, second, 'flag')
    expect(await rankOf(link.product)).toBe(posterior(mean, both.slice(0, 1)))
    await setFlag(m, second, 'unflag')
    expect(await rankOf(link.product)).toBe(posterior(mean, both))
  })

  it('puts the products that an agent could review in order, best first', async () => {
    const links = [await newLink(), await newLink(), await newLink()] as const
    const [worst, middle, best] = links
    const [first] = buyers
    await buyAndTell(m, best, [[first, 5]])
    await buyAndTell(m, worst, [[first, 1]])
    const later = await newcomer(m)
    const shown = links.map(({ product }) => product.productId)
    const listed = async (query: string) => {
      await quiet(m)
      const { products } = await must(
        m.call('GET', `/v1/agent/${later.agentId}/reviewable${query}`, { as: later.owner }),
      )
      return products
        .map(({ product_id }: { product_id: string }) => product_id)
        .filter((id: string) => (shown as string[]).includes(id))
    }
    const inOrder = [best, middle, worst].map(({ product }) => product.productId)
    expect(await listed('?limit=200')).toEqual(inOrder)
    for (const link of links) await buyThrough(m, later, link)
    expect(await listed('?limit=200')).toEqual([])
    expect(await listed('?needs_review=true&limit=200')).toEqual(inOrder)
  })
})

describe('the rank of a merchant', () => {
  it('is the mean of its products, each as often as it was bought [MERCH-65]', async () => {
    const { guardian } = m.market.accounts
    const of = await openRecorded(m, guardian)
    const mean = await meanOfDay()
    const merchantRank = async () => {
      await quiet(m)
      return (await must(m.call('GET', `/v1/merchant/${of}`))).merchant_rank
    }
    const good = await newLink({ of, account: guardian })
    const bad = await newLink({ of, account: guardian })
    await newLink({ of, account: guardian })
    expect(await merchantRank()).toBeNull()
    const [first, second] = buyers
    await buyThrough(m, first, bad)
    expect(await merchantRank()).toBeCloseTo(mean, 6)
    await buyAndTell(m, good, [
      [first, 5],
      [second, 5],
    ])
    const rank = posterior(mean, [
      [COLD, 1],
      [COLD, 1],
    ])
    expect(await merchantRank()).toBeCloseTo((2 * rank + mean) / 3, 6)
    // A purchase without an agent counts, too.
    await buyThrough(m, { owner: second.owner, agentId: Attribution.AGENTLESS_BUYER_ID }, bad)
    expect(await merchantRank()).toBeCloseTo((2 * rank + 2 * mean) / 4, 6)
  })
})
