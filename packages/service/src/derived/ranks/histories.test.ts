import { seedOf } from '@referrer/chain/testing'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { dayOf, deflate } from '@referrer/ranking'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recomputeRanks } from '../../app/commands/recompute-ranks.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { opinionsFollower } from '../opinions/follow.ts'
import { ranksFollower } from './follow.ts'
import { type Counted, countedBy, moneyBy, productRanksBy, ranksBy, readRecords } from './model.ts'
import { createHistory, FULL, type History, type Product } from './testing.ts'

const AGENTS = 6
/** Small numbers, so that events meet often. */
const AUTHORS = 2
const OWNERS = 4
const MERCHANTS = [900, 901]
const seed = seedOf()

let database: TestDatabase
let chainId = 0

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

/** The state of the random history so far. */
interface World {
  products: Product[]
  reviews: {
    id: bigint
    product: Product
    isOnChain: boolean
    hasText: boolean
    isResolved: boolean
    outcome: string
  }[]
  purchases: {
    number: number
    product: Product
    buyer: number | null
    isOnChain: boolean
    isReviewed: boolean
  }[]
  flagged: Set<number>
}

const at = <T>(all: readonly T[], number: number): T | undefined => all[number % all.length]
const agentAt = (number: number) => 1 + (number % AGENTS)
const ownerAt = (number: number) => 1 + (number % OWNERS)
const SUPPORTS = [null, false, true, true]
const STANDINGS = [0, 300_000, 650_000, 1_000_000]
const WEIGHTS = [0, 150_000, 400_000, 1_000_000, 1_000_000]

type Step = (h: History, world: World, numbers: readonly [number, number, number, number]) => Promise<void>

const steps = {
  async review(h, { products, reviews }, [author, which, opinion, satisfaction]) {
    const product = at(products, which)
    if (!product) return
    const written = {
      satisfaction: (satisfaction % 5) / 4,
      ...(opinion % 2 === 0 && { opinion: { size: 1_000_000, weight: at(WEIGHTS, opinion >> 1) ?? 0 } }),
      hasText: opinion % 5 !== 0,
    }
    const id = await h.review(1 + (author % AUTHORS), product, written)
    reviews.push({
      id,
      product,
      isOnChain: true,
      hasText: written.hasText,
      isResolved: false,
      outcome: 'pending',
    })
  },
  /** Buys through a link, often without an agent or for a price of its own. */
  async buy(h, { reviews, purchases }, [buyer, which, price, commission]) {
    const link = at(reviews, which)
    if (!link) return
    const agent = buyer % 5 === 0 ? null : agentAt(buyer)
    const amount = BigInt(at([90, 30_000, 2_000_000, 2_000_000], price) ?? 0)
    const number = await h.buy(link.product, agent, {
      link: link.id,
      price: amount,
      commission: (amount * BigInt(commission % 4)) / 40n,
    })
    purchases.push({ number, product: link.product, buyer: agent, isOnChain: true, isReviewed: false })
  },
  /** Reviews a purchase. */
  async answer(h, { reviews, purchases }, [which, satisfaction, support, text]) {
    const purchase = at(
      purchases.filter(({ isReviewed, buyer }) => !isReviewed && buyer !== null),
      which,
    )
    if (!purchase?.buyer) return
    const { product } = purchase
    const hasText = text % 5 !== 0
    const id = await h.review(purchase.buyer, product, {
      satisfaction: (satisfaction % 5) / 4,
      hasText,
      purchase: purchase.number,
      opinion: { size: 1_000_000, weight: at(WEIGHTS, text) ?? 0, agrees: at(SUPPORTS, support) ?? null },
    })
    purchase.isReviewed = true
    reviews.push({ id, product, isOnChain: true, hasText, isResolved: false, outcome: 'pending' })
  },
  /** Computes standings, or turns them off. */
  async stand(h, _world, [on, one, two, three]) {
    const standing = (number: number) => at(STANDINGS, number) ?? 0
    await h.stand({
      owners: { 1: standing(one), 2: standing(two), 3: standing(three) },
      shops: { 900: { standing: 1_000_000, isVerified: on % 4 !== 0 }, 901: { standing: standing(one) } },
    })
  },
  /** A purchase that is not counted yet would get the new commission. */
  async offer(h, { products }, [which, bps]) {
    const product = at(products, which)
    await h.follow()
    if (product) await h.offer(product, (bps % 7) * 100)
  },
  sellShop: (h, _world, [merchant, owner]) => h.transfer(at(MERCHANTS, merchant) ?? 0, ownerAt(owner)),
  async reorganiseReview(h, { reviews }, [which, owner]) {
    const review = at(reviews, which)
    if (!review) return
    if (review.isOnChain) await h.unpublish(review.id)
    else {
      if (owner % 3 === 0) await h.publishedUnder(review.id, ownerAt(owner))
      await h.publish(review.id)
    }
    review.isOnChain = !review.isOnChain
  },
  async changeOwner(h, { reviews }, [which, owner]) {
    const review = at(reviews, which)
    if (review) await h.publishedUnder(review.id, ownerAt(owner))
  },
  async bringText(h, { reviews }, [which]) {
    const review = at(
      reviews.filter(({ hasText }) => !hasText),
      which,
    )
    if (!review) return
    await h.bringText(review.id)
    review.hasText = true
  },
  async edit(h, { reviews }, [which, satisfaction]) {
    const review = at(reviews, which)
    if (review) await h.edit(review.id, (satisfaction % 5) / 4)
  },
  async vote(h, { products, reviews, purchases }, [voter, which, first, weight]) {
    const product = at(products, which)
    if (!product || reviews.length === 0) return
    const chosen = new Set(
      [first, first + 1, first + 3].slice(0, 1 + (weight % 3)).map((n) => at(reviews, n)?.id ?? 0n),
    )
    const buyer = agentAt(voter)
    const number = await h.buy(product, buyer)
    await h.cast(number, buyer, [...chosen], {
      weight: at(WEIGHTS, weight) ?? 0,
      supports: at(SUPPORTS, first) ?? null,
    })
    purchases.push({ number, product, buyer, isOnChain: true, isReviewed: false })
  },
  async reorganisePurchase(h, { purchases }, [which, renumber]) {
    const purchase = at(purchases, which)
    if (!purchase) return
    if (purchase.isOnChain) await h.undo(purchase.number)
    else await h.redo(purchase.number, purchase.product, purchase.buyer, renumber % 3 === 0)
    purchase.isOnChain = !purchase.isOnChain
  },
  async bind(h, { purchases }, [which, buyer]) {
    const purchase = at(purchases, which)
    if (!purchase) return
    purchase.buyer = buyer % 3 === 0 ? null : agentAt(buyer)
    await h.bind(purchase.number, purchase.buyer)
  },
  async find(h, { reviews }, [which, number, size]) {
    const review = at(
      reviews.filter(({ isResolved }) => !isResolved),
      which,
    )
    if (!review) return
    const outcomes = ['confirmed', 'contradicted', 'confirmed', 'contradicted', 'pending'] as const
    const outcome = at(outcomes, number) ?? 'pending'
    // The oracle writes only outcomes that differ.
    if (review.outcome === outcome) return
    await h.find(review.id, outcome, at(WEIGHTS, size) ?? 0)
    review.outcome = outcome
  },
  async dispute(h, { reviews }, [which, upheld]) {
    const review = at(
      reviews.filter(({ isResolved }) => !isResolved),
      which,
    )
    if (!review) return
    await h.outcome(review.id, 'disputed')
    review.outcome = 'disputed'
    if (upheld % 3 === 0) return
    await h.resolve(review.id, upheld % 3 === 1)
    review.isResolved = true
  },
  transfer: (h, _world, [agent, owner]) => h.transfer(agentAt(agent), ownerAt(owner)),
  async flag(h, { flagged }, [which]) {
    const agent = agentAt(which)
    const isFlagged = !flagged.delete(agent)
    if (isFlagged) flagged.add(agent)
    await h.flag(agent, isFlagged)
  },
  async days(h, _world, [days]) {
    h.pass(at([1, 29, 180], days))
  },
  async follow(h) {
    await h.followOnce()
  },
} satisfies Record<string, Step>

const HOW_OFTEN: Partial<Record<keyof typeof steps, number>> = {
  vote: 8,
  review: 5,
  find: 4,
  follow: 6,
  buy: 6,
  answer: 4,
  stand: 2,
}
const step = fc.record({
  what: fc.oneof(
    ...Object.keys(steps).map((name) => ({
      arbitrary: fc.constant(name as keyof typeof steps),
      weight: HOW_OFTEN[name as keyof typeof steps] ?? 1,
    })),
  ),
  numbers: fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99), fc.nat(99)),
})

async function begin(): Promise<{ h: History; world: World }> {
  chainId += 1
  const h = createHistory(database.sql, chainId, [opinionsFollower, ranksFollower({ fullCommission: FULL })])
  for (let agent = 1; agent <= AGENTS; agent += 1) await h.agent(agent, ownerAt(agent))
  for (const [index, merchant] of MERCHANTS.entries()) {
    await h.agent(merchant, ownerAt(index + 3))
    await h.sql`INSERT INTO market.merchants (chain_id, merchant_id) VALUES (${chainId}, ${merchant})`
  }
  const products = [
    await h.product(0, MERCHANTS[0]),
    await h.product(0, MERCHANTS[0]),
    await h.product(1, MERCHANTS[1]),
  ]
  return { h, world: { products, reviews: [], purchases: [], flagged: new Set() } }
}

const KEPT = [
  'counted_purchases',
  'counted_votes',
  'spent_at_shops',
  'author_money',
  'rank_evidence',
  'rank_totals',
  'review_ranks',
  'ranked_reviews',
  'unheard_voters',
  'opinions',
  'product_totals',
  'opinion_totals',
  'products',
  'merchants',
]

/** Everything that followers write, as text. */
async function written({ sql }: History): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {}
  for (const table of KEPT) {
    const rows = await sql.unsafe<{ row: string }[]>(
      `SELECT t::text AS row FROM market.${table} AS t WHERE chain_id = $1 ORDER BY 1`,
      [chainId],
    )
    tables[table] = rows.map(({ row }) => row)
  }
  // Only merchants that have ever sold something.
  const totals = await sql<{ row: string }[]>`
    SELECT t::text AS row FROM market.merchant_totals AS t WHERE chain_id = ${chainId} AND conversions <> 0 ORDER BY 1`
  const [sums] = await sql`
    SELECT repeat_count, one_off_count, repeat_sum::float8, one_off_sum::float8 FROM market.rank_sums
    WHERE chain_id = ${chainId} AND repeat_count + one_off_count > 0`
  return {
    ...tables,
    merchantTotals: totals.map(({ row }) => row),
    sums: Object.values(sums ?? {}).map(String),
  }
}

const spell = (one: Counted) =>
  `${one.kind} for ${one.agent} of ${one.owner} in ${one.type} on ${one.review} by ${one.voterOwner}: ${one.weight} at ${one.at.toISOString()}`

/** Compares what is stored with the second implementation of the rules. */
async function check({ sql, clock }: History): Promise<void> {
  const records = await readRecords(sql, chainId)
  const counted = countedBy(records)
  const evidence = await sql<Counted[]>`
    SELECT agent_id AS agent, encode(owner, 'hex') AS owner, product_type AS type, kind, review_internal_id AS review,
      encode(voter_owner, 'hex') AS "voterOwner", weight, happened_at AS at
    FROM market.rank_evidence WHERE chain_id = ${chainId}`
  expect(evidence.map(spell).sort()).toEqual(counted.map(spell).sort())
  const ranks = await sql<{ agent_id: bigint; repeat: number | null; one_off: number | null }[]>`
    SELECT agent_id, repeat, one_off FROM market.review_ranks WHERE chain_id = ${chainId} ORDER BY agent_id`
  const day = dayOf(new Date(clock.now))
  const money = moneyBy(records, day, Number(FULL))
  await checkMoney(sql, day, money)
  const close = (rank: number | null) => (rank === null ? null : expect.closeTo(rank, 9))
  expect(ranks.map((row) => ({ ...row }))).toEqual(
    [...ranksBy(records, counted, money, { day, full: Number(FULL) })]
      .sort(([a], [b]) => Number(a - b))
      .map(([agent_id, { repeat, one_off }]) => ({
        agent_id,
        repeat: close(repeat),
        one_off: close(one_off),
      })),
  )
  const products = await sql<{ name: string; rank: number }[]>`
    SELECT merchant_id || '/' || encode(product_id, 'hex') AS name, rank FROM market.products WHERE chain_id = ${chainId}`
  const byName = productRanksBy(records)
  for (const { name, rank } of products) expect(rank, name).toBe((byName.get(name) ?? 0) / 1e6)
}

/** The sums of money by name, without those of nothing. */
function summed<T>(all: readonly T[], nameOf: (one: T) => string, amountOf: (one: T) => number) {
  const sums = new Map<string, number>()
  for (const one of all) sums.set(nameOf(one), (sums.get(nameOf(one)) ?? 0) + amountOf(one))
  return Object.fromEntries([...sums].filter(([, sum]) => sum > 0).sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function checkMoney(sql: History['sql'], day: number, money: ReturnType<typeof moneyBy>) {
  const near = (sums: Record<string, number>) =>
    Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, expect.closeTo(sum, 4)]))
  const spent = await sql<{ owner: string; shop: bigint; spent: bigint }[]>`
    SELECT encode(owner, 'hex') AS owner, merchant_id AS shop, spent FROM market.spent_at_shops WHERE chain_id = ${chainId}`
  const spender = ({ owner, shop }: { owner: string; shop: bigint }) => `${owner} at ${shop}`
  expect(summed(spent, spender, (one) => deflate(one.spent, day))).toEqual(
    near(summed(money.spent, spender, ({ amount }) => amount)),
  )
  type OfAuthor = { agent: bigint; owner: string; shop: bigint }
  const totals = await sql<(OfAuthor & { sales: bigint; paid: bigint; spent: bigint })[]>`
    SELECT agent_id AS agent, encode(owner, 'hex') AS owner, merchant_id AS shop, sales, paid, spent
    FROM market.author_money WHERE chain_id = ${chainId}`
  const author = (one: OfAuthor) => `${one.agent} of ${one.owner} at ${one.shop}`
  for (const kind of ['sales', 'paid', 'spent'] as const) {
    expect(
      summed(totals, author, (one) => deflate(one[kind], day)),
      kind,
    ).toEqual(near(summed(money.authors, author, (one) => one[kind])))
  }
}

it(`keeps the ranks that the rules make of the records, and that computing them anew makes, whatever happened (SEED=${seed})`, async () => {
  const seen = { pieces: 0, ranked: 0, spent: 0, supported: 0, trusted: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 110, size: 'max' }), async (history) => {
      const { h, world } = await begin()
      for (const { what, numbers } of history) {
        h.pass()
        const take: Step = steps[what]
        await take(h, world, numbers)
      }
      await h.follow()
      await check(h)
      const kept = await written(h)
      await recomputeRanks(h.sql, h.chain, { now: new Date(h.clock.now), fullCommission: FULL }, () => {})
      expect(await written(h)).toEqual(kept)
      await h.follow()
      expect(await written(h)).toEqual(kept)
      seen.pieces += kept.rank_evidence?.length ?? 0
      seen.ranked += kept.review_ranks?.length ?? 0
      seen.spent += kept.spent_at_shops?.length ?? 0
      const [row] = await h.sql<[{ supported: number; trusted: number }]>`
        SELECT count(*) FILTER (WHERE paid > 0 AND sales > 0)::int4 AS supported,
          (SELECT count(*) FROM market.review_ranks WHERE chain_id = ${chainId} AND standing_pass > 0)::int4 AS trusted
        FROM market.author_money WHERE chain_id = ${chainId}`
      seen.supported += row.supported
      seen.trusted += row.trusted
    }),
    { numRuns: 16, seed, endOnFailure: true },
  )
  // Histories without any evidence would prove nothing.
  expect(seen.pieces).toBeGreaterThan(40)
  expect(seen.ranked).toBeGreaterThan(8)
  expect(seen.spent).toBeGreaterThan(40)
  expect(seen.supported).toBeGreaterThan(8)
  expect(seen.trusted).toBeGreaterThan(8)
}, 120_000)
