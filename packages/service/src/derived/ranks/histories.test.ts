import { seedOf } from '@referrer/chain/testing'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { dayOf } from '@referrer/ranking'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recomputeRanks } from '../../app/commands/recompute-ranks.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { opinionsFollower } from '../opinions/follow.ts'
import { ranksFollower } from './follow.ts'
import { type Counted, countedBy, productRanksBy, ranksBy, readRecords } from './model.ts'
import { createHistory, type History, type Product } from './testing.ts'

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
  reviews: { id: bigint; isOnChain: boolean; hasText: boolean; isResolved: boolean; outcome: string }[]
  purchases: {
    number: number
    product: Product
    buyer: number | null
    isOnChain: boolean
    isVoted: boolean
  }[]
  flagged: Set<number>
}

const at = <T>(all: readonly T[], number: number): T | undefined => all[number % all.length]
const agentAt = (number: number) => 1 + (number % AGENTS)
const ownerAt = (number: number) => 1 + (number % OWNERS)
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
    reviews.push({ id, isOnChain: true, hasText: written.hasText, isResolved: false, outcome: 'pending' })
  },
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
    await h.cast(number, buyer, [...chosen], { weight: at(WEIGHTS, weight) ?? 0 })
    purchases.push({ number, product, buyer, isOnChain: true, isVoted: true })
  },
  async reorganisePurchase(h, { purchases }, [which]) {
    const purchase = at(purchases, which)
    if (!purchase) return
    if (purchase.isOnChain) await h.undo(purchase.number)
    else await h.redo(purchase.number, purchase.product, purchase.buyer)
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

const HOW_OFTEN: Partial<Record<keyof typeof steps, number>> = { vote: 8, review: 5, find: 4, follow: 6 }
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
  const h = createHistory(database.sql, chainId, [opinionsFollower, ranksFollower])
  for (let agent = 1; agent <= AGENTS; agent += 1) await h.agent(agent, ownerAt(agent))
  for (const merchant of MERCHANTS)
    await h.sql`INSERT INTO market.merchants (chain_id, merchant_id) VALUES (${chainId}, ${merchant})`
  const products = [
    await h.product(0, MERCHANTS[0]),
    await h.product(0, MERCHANTS[0]),
    await h.product(1, MERCHANTS[1]),
  ]
  return { h, world: { products, reviews: [], purchases: [], flagged: new Set() } }
}

const KEPT = [
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
  const close = (rank: number | null) => (rank === null ? null : expect.closeTo(rank, 9))
  expect(ranks.map((row) => ({ ...row }))).toEqual(
    [...ranksBy(records, counted, dayOf(new Date(clock.now)))]
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

it(`keeps the ranks that the rules make of the records, and that computing them anew makes, whatever happened (SEED=${seed})`, async () => {
  const seen = { pieces: 0, ranked: 0 }
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
      await recomputeRanks(h.sql, h.chain, new Date(h.clock.now), () => {})
      expect(await written(h)).toEqual(kept)
      await h.follow()
      expect(await written(h)).toEqual(kept)
      seen.pieces += kept.rank_evidence?.length ?? 0
      seen.ranked += kept.review_ranks?.length ?? 0
    }),
    { numRuns: 16, seed, endOnFailure: true },
  )
  // Histories without any evidence would prove nothing.
  expect(seen.pieces).toBeGreaterThan(40)
  expect(seen.ranked).toBeGreaterThan(8)
}, 120_000)
