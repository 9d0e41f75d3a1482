import { seedOf } from '@referrer/chain/testing'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rebuildListings } from '../../app/commands/rebuild-listings.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import type { Product } from '../ranks/testing.ts'
import { evidenceOf } from './evidence.ts'
import { createShops, type Shops } from './testing.ts'

const seed = seedOf()
/** Agent n belongs to owner n; the first two agents are merchants. */
const AGENTS = [1, 2, 3, 4, 5]
const MERCHANTS = [1, 2]
const WORDS = ['fast', 'slow', 'cheap', 'exact', 'dear']

let database: TestDatabase
let chainId = 0

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

const at = <T>(all: readonly T[], number: number): T | undefined => all[number % all.length]

interface World {
  products: Product[]
  reviews: { id: bigint; isOnChain: boolean }[]
}

type Step = (s: Shops, world: World, numbers: readonly [number, number, number]) => Promise<void>

const steps = {
  async product(s, { products }, [merchant]) {
    if (products.length < 4) products.push(await s.product(0, at(MERCHANTS, merchant)))
  },
  async forget(s, { products }, [which]) {
    const product = at(products, which)
    if (!product || which % 4 > 0) return
    products.splice(products.indexOf(product), 1)
    await s.forget(product)
  },
  async sell(s, { products }, [which, on]) {
    const product = at(products, which)
    if (product) await s.sell(product, on % 2 === 0)
  },
  async openOrClose(s, _, [merchant, what, owner]) {
    const merchantId = at(MERCHANTS, merchant) ?? 0
    if (what % 3 === 0) await s.close(merchantId)
    else if (what % 3 === 1) await s.suspend(merchantId, owner % 2 === 0)
    else await s.open(merchantId, at(AGENTS, owner) ?? 0)
  },
  async transfer(s, _, [agent, owner]) {
    await s.transfer(at(AGENTS, agent) ?? 0, at(AGENTS, owner) ?? 0)
  },
  async flag(s, _, [agent, on]) {
    await s.flag(at(AGENTS, agent) ?? 0, on % 2 === 0)
  },
  async review(s, { products, reviews }, [author, which, word]) {
    const product = at(products, which)
    if (!product) return
    s.pass()
    const id = await s.review(at(AGENTS, author) ?? 0, product, { hasText: false })
    reviews.push({ id, isOnChain: true })
    if (word % 4 > 0) await s.write(id, `${at(WORDS, word)} and ${at(WORDS, word >> 2)}`)
  },
  async write(s, { reviews }, [which, word]) {
    const review = at(reviews, which)
    if (review) await s.write(review.id, at(WORDS, word) ?? '')
  },
  async reorganise(s, { reviews }, [which, owner]) {
    const review = at(reviews, which)
    if (!review) return
    if (review.isOnChain) await s.unpublish(review.id)
    else {
      if (owner % 3 === 0) await s.publishedUnder(review.id, at(AGENTS, owner) ?? 0)
      await s.publish(review.id)
    }
    review.isOnChain = !review.isOnChain
  },
} satisfies Record<string, Step>

/** The expected listings, computed from all records, one product after the other. */
async function workOut() {
  const { sql } = database
  const products = await sql<
    { merchant_id: bigint; product_id: Buffer; is_known: boolean; owner: Buffer | null; is_open: boolean }[]
  >`
    SELECT merchant_id, product_id, p.chain_id IS NOT NULL AS is_known, i.owner,
      (p.chain_id IS NOT NULL AND c.active AND s.active AND NOT s.suspended AND s.opened_by = i.owner) IS TRUE AS is_open
    FROM market.listings AS l
    LEFT JOIN market.products AS p USING (chain_id, merchant_id, product_id)
    LEFT JOIN chain.products AS c USING (chain_id, merchant_id, product_id)
    LEFT JOIN chain.merchants AS s USING (chain_id, merchant_id)
    LEFT JOIN chain.identities AS i ON i.chain_id = l.chain_id AND i.agent_id = l.merchant_id
    WHERE l.chain_id = ${chainId} ORDER BY merchant_id, product_id`
  const reviews = await sql<
    { internal_id: bigint; product_id: Buffer; author_owner: Buffer; content: string; flagged: boolean }[]
  >`
    SELECT internal_id, m.product_id, author_owner, content, a.flagged
    FROM market.reviews AS m JOIN chain.reviews USING (internal_id) JOIN market.agents AS a ON (a.chain_id, a.agent_id) = (m.chain_id, m.agent_id)
    WHERE m.chain_id = ${chainId} AND content IS NOT NULL ORDER BY internal_id`
  return products.map(({ merchant_id, product_id, is_known, owner, is_open }) => {
    const own = reviews.filter((review) => is_known && review.product_id.equals(product_id))
    const heard = own.filter((review) => !review.flagged && !(owner && review.author_owner.equals(owner)))
    return {
      merchant_id,
      product_id,
      is_open,
      review_count: own.length,
      shortlist: own.map(({ internal_id }) => internal_id),
      evidence: evidenceOf(
        heard.map(({ author_owner, content }) => ({ owner: author_owner.toString('hex'), content })),
      ),
    }
  })
}

const listings = () => database.sql`
  SELECT merchant_id, product_id, is_open, review_count, shortlist, evidence FROM market.listings
  WHERE chain_id = ${chainId} ORDER BY merchant_id, product_id`

it('listings that followed a history are those that all of it together makes', async () => {
  const names = Object.keys(steps) as (keyof typeof steps)[]
  // Most steps are reviews.
  const name = fc.constantFrom(...names, 'review' as const, 'review' as const, 'review' as const)
  const step = fc.tuple(name, fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99)), fc.nat(3))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (history) => {
      chainId += 1
      const s = createShops(database.sql, chainId)
      const world: World = { products: [], reviews: [] }
      for (const number of AGENTS) await s.agent(number, number)
      for (const number of MERCHANTS) {
        await s.open(number, number)
        world.products.push(await s.product(0, number))
      }
      for (const [what, numbers, pause] of history) {
        await steps[what](s, world, numbers)
        if (pause === 0) await s.followOnce()
      }
      await s.follow()
      const followed = [...(await listings())]
      expect(followed).toEqual(await workOut())
      await rebuildListings(database.sql, chainId, new Date(s.clock.now))
      expect([...(await listings())]).toEqual(followed)
    }),
    { seed, numRuns: 12 },
  )
})
