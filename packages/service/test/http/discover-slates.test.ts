// Which reviews of a product are shown, in which slot, and why. Scores are recomputed here independently.
import { type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Answer } from './caller.ts'
import { DAY, transfer } from './chain.ts'
import { ask, foundWhere, searchable, sellAll, setRanks, startFinding, writeAll } from './discover-market.ts'
import { generic, type TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { publish } from './reviews.ts'
import { beginDay, newcomer, type Person, quiet, type Review, readRank, setFlag, support } from './town.ts'

type Entry = Record<string, unknown> & {
  slot: string
  internal_id: number
  author_rank: number
  relevance: number
  score: number
  published_at: string
}

const DAY_MS = 1_000 * DAY
const BASE_RATES = { repeat: 0.5, oneOff: 0.417 }

let m: TestMarket
let merchantId: bigint
let people: Person[]
/** By name. */
let products: Map<string, Product>

const NAMES = ['anchors', 'bells', 'compasses', 'drums', 'engines', 'flutes', 'globes', 'hammocks']

beforeAll(async () => {
  m = await startFinding()
  beginDay(m)
  await registerIdentity(m.market, m.market.accounts.stranger)
  merchantId = await openRecorded(m)
  const listed = await sellAll(
    m,
    merchantId,
    NAMES.map((name) => ({ name, category: name, oneOff: name === 'compasses' })),
  )
  products = new Map(NAMES.map((name, at) => [name, listed[at] as Product]))
  people = []
  for (let count = 0; count < 7; count += 1) people.push(await newcomer(m))
})
afterAll(() => m.close())
beforeEach(() =>
  setRanks(
    m,
    people.map((person) => [person, null]),
  ),
)

/** Until all reviews are embedded, those that are count as more relevant. */
async function write(
  product: Product,
  reviews: readonly (readonly [author: Person, rating: number, text?: string])[],
): Promise<Review[]> {
  const written = await writeAll(m, product, reviews)
  await searchable(m)
  return written
}

const productOf = (name: string) => products.get(name) as Product
const person = (at: number) => people[at] as Person

/** Asks for one product, until all of its reviews are counted. */
async function slateOf(name: string, count: number, query = ''): Promise<Answer['body']> {
  const { body } = await foundWhere(
    m,
    `intent=${name}&category=${name}${query}`,
    ({ products: [product] }) => product?.review_count === count,
  )
  expect(body.products).toHaveLength(1)
  return body.products[0]
}

const shown = ({ reviews }: Answer['body']): [slot: string, id: number][] =>
  reviews.map(({ slot, internal_id }: Entry) => [slot, internal_id])

const idOf = (review: Review | undefined) => review?.internalId

/** Freshness counts in whole days of UTC and halves every 180 days. */
function scoreOf({ author_rank, relevance, published_at }: Entry): number {
  const today = Math.floor((Date.now() + m.clock.aheadMs) / DAY_MS)
  const age = today - Math.floor(Date.parse(published_at) / DAY_MS)
  return 0.5 * author_rank + 0.35 * relevance + 0.15 * 2 ** (-age / 180)
}

describe('a slate', () => {
  let written: Review[]
  const expected = (): [string, number | undefined][] => [
    ['highlight', idOf(written[0])],
    ['highlight', idOf(written[1])],
    ['newcomer', idOf(written[3])],
    ['dissent', idOf(written[5])],
  ]
  const overflow = (): [string, number | undefined][] => [
    ['overflow', idOf(written[2])],
    ['overflow', idOf(written[6])],
    ['overflow', idOf(written[4])],
  ]
  const ranked = () =>
    setRanks(
      m,
      [0.9, 0.8, 0.7, null, null, 0.95, 0.6].map((rank, at) => [person(at), rank] as const),
    )

  beforeAll(async () => {
    const ratings = [5, 5, 5, 4, 5, 1, 2]
    written = await write(
      productOf('anchors'),
      ratings.map((rating, at) => [person(at), rating] as const),
    )
  })
  beforeEach(ranked)

  it('is two highlights, a newcomer and a dissent [DISC-40, DISC-41, DISC-42, DISC-43, DISC-46]', async () => {
    const product = await slateOf('anchors', 7)
    expect(shown(product)).toEqual(expected())
    // The mean of the five authors with a rank.
    expect(product.mean_author_rank).toBeCloseTo((0.9 + 0.8 + 0.7 + 0.95 + 0.6) / 5, 12)
    for (const entry of product.reviews) expect(entry).not.toHaveProperty('excluded_reason')
  })

  it.each(['1', 'True', 'TRUE', 'false', '', 'yes', 'true%20', 'true&include_all=true'])(
    'has no overflow for include_all=%s [DISC-13, DISC-14, DISC-15, DISC-16]',
    async (value) => {
      expect(shown(await slateOf('anchors', 7, `&include_all=${value}`))).toEqual(expected())
    },
  )

  it('has the others last, when all are asked for [DISC-13, DISC-45, DISC-46, DISC-48, DISC-49]', async () => {
    const product = await slateOf('anchors', 7, '&include_all=true')
    expect(shown(product)).toEqual([...expected(), ...overflow()])
    for (const { slot, excluded_reason } of product.reviews) {
      expect(excluded_reason).toBe(slot === 'overflow' ? 'below ranking threshold' : undefined)
    }
  })

  it('goes by half the rank of the author and 0.15 of how new it is [DISC-54, DISC-56, DISC-58]', async () => {
    const { reviews } = await slateOf('anchors', 7, '&include_all=true')
    const ranks = reviews.map(({ author_rank }: Entry) => author_rank)
    expect(ranks).toEqual([0.9, 0.8, BASE_RATES.repeat, 0.95, 0.7, 0.6, BASE_RATES.repeat])
    for (const entry of reviews as Entry[]) expect(entry.score).toBeCloseTo(scoreOf(entry), 12)
    await setRanks(m, [[person(2), 1]])
    const { reviews: after } = await slateOf('anchors', 7)
    expect(after.map(({ internal_id }: Entry) => internal_id).slice(0, 2)).toEqual([
      idOf(written[2]),
      idOf(written[0]),
    ])
    m.clock.aheadMs += 90 * DAY_MS
    try {
      const later = await slateOf('anchors', 7)
      expect(later.reviews).toHaveLength(4)
      for (const entry of later.reviews as Entry[]) expect(entry.score).toBeCloseTo(scoreOf(entry), 12)
      expect(later.reviews[0].score).toBeLessThan(after[0].score - 0.04)
    } finally {
      m.clock.aheadMs -= 90 * DAY_MS
    }
  })

  it('shows a review as its own route does, with a link to buy through [DISC-02, DISC-50, DISC-51, DISC-52, DISC-53]', async () => {
    const { reviews } = await slateOf('anchors', 7, '&include_all=true')
    expect(reviews).toHaveLength(7)
    for (const [
      at,
      { slot, excluded_reason, author_rank, relevance, score, ...entry },
    ] of reviews.entries()) {
      const { body } = await m.call('GET', `/v1/review-internal/${entry.internal_id}`)
      const { internal_id, on_chain_id, content_json, ref_link, published_at } = body
      expect(entry).toEqual({ internal_id, on_chain_id, content_json, ref_link, published_at })
      expect([entry.internal_id, entry.on_chain_id].every(Number.isInteger)).toBe(true)
      expect(typeof entry.content_json).toBe('object')
      expect(relevance).toBeLessThanOrEqual(1)
      expect(Object.values(reviews[at])).not.toContain(null)
      expect((await m.call('GET', new URL(entry.ref_link).pathname)).body).toMatchObject({
        merchant_id: Number(merchantId),
        product_id: productOf('anchors').productId,
        review_id: entry.on_chain_id,
      })
    }
  })

  it('counts a flagged author for nothing, and takes it for no newcomer, while it is flagged', async () => {
    const flagged = [person(0), person(3), person(4)]
    for (const author of flagged) await setFlag(m, author, 'flag')
    await ranked()
    try {
      const product = await slateOf('anchors', 7, '&include_all=true')
      expect(shown(product)).toEqual([
        ['highlight', idOf(written[1])],
        ['highlight', idOf(written[2])],
        ['dissent', idOf(written[5])],
        ['overflow', idOf(written[6])],
        ...[written[0], written[3], written[4]].map((review) => ['overflow', idOf(review)]),
      ])
      expect(product.reviews.at(-1).author_rank).toBe(0)
      expect(product.mean_author_rank).toBeCloseTo((0.8 + 0.7 + 0.95 + 0.6) / 7, 12)
    } finally {
      for (const author of flagged) await setFlag(m, author, 'unflag')
    }
    await ranked()
    expect(shown(await slateOf('anchors', 7))).toEqual(expected())
  })
})

describe('a dissent', () => {
  it('is nobody when opinions are balanced, and never one in the middle [DISC-43]', async () => {
    const written = await write(productOf('bells'), [
      [person(0), 5],
      [person(1), 1],
      [person(2), 3],
    ])
    await setRanks(
      m,
      [0.9, 0.8, 0.7].map((rank, at) => [person(at), rank] as const),
    )
    const slots = shown(await slateOf('bells', 3, '&include_all=true')).map(([slot]) => slot)
    expect(slots).toEqual(['highlight', 'highlight', 'overflow'])
    const [more] = await write(productOf('bells'), [[person(3), 2]])
    await setRanks(m, [[person(3), 0.6]])
    // The mean is below one half by now, so a review that praises it is the dissent.
    expect(shown(await slateOf('bells', 4, '&include_all=true'))).toEqual([
      ['highlight', idOf(written[1])],
      ['highlight', idOf(written[2])],
      ['dissent', idOf(written[0])],
      ['overflow', idOf(more)],
    ])
  })
})

describe('a newcomer', () => {
  it('begins where ranks for products of this type begin; of equals the first is taken [DISC-42, DISC-54]', async () => {
    const written = await write(productOf('compasses'), [
      [person(2), 5],
      [person(1), 5],
    ])
    const product = await slateOf('compasses', 2)
    expect(shown(product)).toEqual([
      ['highlight', idOf(written[1])],
      ['newcomer', idOf(written[0])],
    ])
    for (const { author_rank } of product.reviews) expect(author_rank).toBe(BASE_RATES.oneOff)
    expect(product).not.toHaveProperty('mean_author_rank')
  })
})

describe('reviews that are excluded', () => {
  it('are those of the merchant’s owner and of agents that changed hands within seven days, all of them [DISC-44, DISC-45, DISC-47]', async () => {
    const { merchant, reviewer } = m.market.accounts
    const own = { owner: merchant, agentId: await registerIdentity(m.market, merchant) }
    const [sold, bought, gone] = [await newcomer(m), await newcomer(m), { ...own }]
    gone.agentId = await registerIdentity(m.market, merchant)
    const written = await write(productOf('drums'), [
      [own, 5],
      [sold, 5],
      [person(0), 5],
      [own, 4],
      [bought, 5],
      [sold, 1],
      [gone, 5],
    ])
    expect(shown(await slateOf('drums', 7)).filter(([slot]) => slot === 'excluded')).toEqual(
      [written[0], written[3], written[6]].map((review) => ['excluded', idOf(review)]),
    )
    await transfer(m, sold.owner, reviewer.address, sold.agentId)
    // One agent now belongs to the merchant, the other did at publication: both are self-reviews.
    await transfer(m, bought.owner, merchant.address, bought.agentId)
    await transfer(m, merchant, reviewer.address, gone.agentId)
    await quiet(m)
    const entries = async () => (await slateOf('drums', 7, '&include_all=true')).reviews as Entry[]
    const reasons = (all: Entry[]) =>
      all.map(({ slot, internal_id, excluded_reason }) => [slot, internal_id, excluded_reason])
    const self = (at: number) => ['excluded', idOf(written[at]), 'self_review']
    const cooldown = (at: number) => ['excluded', idOf(written[at]), 'transfer_cooldown']
    const first = ['newcomer', idOf(written[2]), undefined]
    expect(reasons(await entries())).toEqual([
      first,
      self(0),
      cooldown(1),
      self(3),
      self(4),
      cooldown(5),
      self(6),
    ])

    const [row] = await m.sql<{ at: Date }[]>`
      SELECT transferred_at AS at FROM chain.identities WHERE chain_id = ${m.chainId} AND agent_id = ${sold.agentId}`
    const before = m.clock.aheadMs
    const end = (row?.at.getTime() ?? 0) + 7 * DAY_MS
    try {
      m.clock.aheadMs = end - Date.now() - 60_000
      expect(reasons(await entries()).filter(([, , reason]) => reason === 'transfer_cooldown')).toHaveLength(
        2,
      )
      m.clock.aheadMs = end - Date.now()
      expect(reasons(await entries())).toEqual([
        ['highlight', idOf(written[2]), undefined],
        ['newcomer', idOf(written[1]), undefined],
        ['dissent', idOf(written[5]), undefined],
        self(0),
        self(3),
        self(4),
        self(6),
      ])
    } finally {
      m.clock.aheadMs = before
    }
  })

  it('leave a product with nothing else to show in its place, and are counted [DISC-44]', async () => {
    const { merchant } = m.market.accounts
    const own = { owner: merchant, agentId: await registerIdentity(m.market, merchant) }
    const [written] = await write(productOf('engines'), [[own, 5]])
    expect(shown(await slateOf('engines', 1))).toEqual([['excluded', idOf(written)]])
  })
})

describe('a review', () => {
  it('that is not published is not shown, nor one whose text nobody brought [DISC-38, DISC-51, DISC-53]', async () => {
    const { client } = m.market
    const [kept] = await write(productOf('flutes'), [[person(0), 5]])
    const before = await client.snapshot()
    const [lost] = await write(productOf('flutes'), [[person(1), 5]])
    expect(shown(await slateOf('flutes', 2)).map(([, id]) => id)).toContain(idOf(lost))
    await client.revert({ id: before })
    await client.increaseTime({ seconds: 5 })
    await client.mine({ blocks: 3 })
    const content = generic(5, 'Nobody knows what this says')
    await publish(m.market, { ...person(2), product: productOf('flutes'), content })
    await quiet(m)
    const product = await slateOf('flutes', 1, '&include_all=true')
    expect(shown(product)).toEqual([['newcomer', idOf(kept)]])
    expect(await m.call('GET', `/v1/review-internal/${idOf(lost)}`)).toMatchObject({
      body: { on_chain_id: null },
    })
  })

  it('of an author who earns a rank is shown with it, soon after the votes', async () => {
    const author = await newcomer(m)
    const [other, ...voters] = people as [Person, ...Person[]]
    const [praised, link] = await write(productOf('globes'), [
      [author, 5],
      [other, 5],
    ])
    if (!praised || !link) throw new Error('there are two')
    expect((await slateOf('globes', 2)).reviews[0].author_rank).toBe(BASE_RATES.repeat)
    for (const voter of voters.slice(0, 2)) await support(m, voter, link, [praised])
    await quiet(m)
    const { rank } = (await readRank(m, author)).repeat
    expect(rank).toBeGreaterThan(BASE_RATES.repeat)
    const { reviews, mean_author_rank } = await slateOf('globes', 2)
    expect(
      reviews.map(({ slot, internal_id, author_rank }: Entry) => [slot, internal_id, author_rank]),
    ).toEqual([
      ['highlight', praised.internalId, rank],
      ['newcomer', link.internalId, BASE_RATES.repeat],
    ])
    expect(mean_author_rank).toBe(rank)
  })

  it('is missing from a product that nobody has reviewed [DISC-38, DISC-39]', async () => {
    const { status, body } = await ask(m, 'intent=hammocks&category=hammocks&include_all=true')
    expect([status, body.products[0].reviews]).toEqual([200, null])
  })
})
