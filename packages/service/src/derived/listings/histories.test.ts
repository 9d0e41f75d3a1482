import { seedOf } from '@referrer/chain/testing'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rebuildListings } from '../../app/commands/rebuild-listings.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import type { Product } from '../ranks/testing.ts'
import { evidenceOf } from './evidence.ts'
import { searchedWords, searchesOf } from './searches.ts'
import { HEARD_IN_MONTH, LEAST_STANDING } from './searches-store.ts'
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
  purchases: { number: number; product: Product; buyer: number; isOnChain: boolean }[]
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
    if (review) await s.write(review.id, at(WORDS, word) ?? '', searchOf(word))
  },
  /** Three reviews of purchases; half of them are by the same agent, so that its months are full. */
  async buy(s, { products, reviews, purchases }, [author, which, word]) {
    const buyer = at(AGENTS, author % 2 === 0 ? 2 : author) ?? 0
    for (const more of [0, 1, 2]) {
      const product = at(products, which + more)
      if (!product) return
      s.pass()
      const number = await s.buy(product, buyer)
      purchases.push({ number, product, buyer, isOnChain: true })
      const opinion = word % 7 === 0 ? {} : { opinion: { size: 1, weight: 1 } }
      const id = await s.review(buyer, product, { hasText: false, purchase: number, ...opinion })
      reviews.push({ id, isOnChain: true })
      await s.write(id, 'fine', searchOf(word + more))
    }
  },
  async reorganisePurchase(s, { purchases }, [which, number]) {
    const purchase = at(purchases, which)
    if (!purchase) return
    if (purchase.isOnChain) await s.undo(purchase.number)
    else await s.redo(purchase.number, purchase.product, purchase.buyer, number % 4 === 0)
    purchase.isOnChain = !purchase.isOnChain
  },
  async bind(s, { purchases }, [which, agent]) {
    const purchase = at(purchases, which)
    if (purchase) await s.bind(purchase.number, at(AGENTS, agent) ?? 0)
  },
  async wait(s, _, [days]) {
    s.pass(days % 3 === 0 ? 31 : days % 5)
  },
  async stand(s, _, [isOn, first, second]) {
    const owners = { [at(AGENTS, first) ?? 0]: LEAST_STANDING, [at(AGENTS, second) ?? 0]: LEAST_STANDING - 1 }
    await s.stand(isOn % 3 === 0 ? {} : { owners, shops: { 900: { standing: 1_000_000, isVerified: true } } })
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

const searchOf = (word: number) => (word % 5 === 0 ? undefined : `${at(WORDS, word)} ${at(WORDS, word >> 2)}`)

const hex = (bytes: Buffer) => bytes.toString('hex')

/** The reviews of purchases that say what was searched for and have a place in their month, newest first. */
async function searchesThatCount() {
  const rows = await database.sql<
    {
      product_id: Buffer
      owner: Buffer
      payer: Buffer
      agent_id: bigint
      content: string
      published_at: Date
    }[]
  >`
    SELECT m.product_id, m.author_owner AS owner, e.payer, m.agent_id, m.content, c.published_at
    FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
    JOIN chain.escrows AS e ON (e.chain_id, e.escrow_id, e.buyer_agent_id, e.merchant_id, e.product_id, e.buyer_owner)
      = (m.chain_id, m.proof_id, m.agent_id, m.merchant_id, m.product_id, m.author_owner)
    WHERE m.chain_id = ${chainId} AND m.proof_kind = 2 AND m.opinion_size IS NOT NULL AND m.content IS NOT NULL
      AND e.deposited_at <= c.published_at
    ORDER BY c.published_at, c.review_id`
  const telling = rows.filter(({ content }) => searchedWords(content).length > 0)
  const months = Map.groupBy(
    telling,
    ({ owner, published_at }) => hex(owner) + published_at.toISOString().slice(0, 7),
  )
  const heard = new Set([...months.values()].flatMap((month) => month.slice(0, HEARD_IN_MONTH)))
  return telling.filter((row) => heard.has(row)).reverse()
}

/** Null: standings are off. */
async function trustedOwners(): Promise<Set<string> | null> {
  const { sql } = database
  const [pass] = await sql<{ verified: number }[]>`
    SELECT verified FROM market.standing_passes WHERE chain_id = ${chainId} ORDER BY pass DESC LIMIT 1`
  if (!pass?.verified) return null
  const rows = await sql<{ owner: Buffer; standing: number }[]>`
    SELECT owner, standing FROM market.owner_standings WHERE chain_id = ${chainId}`
  return new Set(rows.filter(({ standing }) => standing >= LEAST_STANDING).map(({ owner }) => hex(owner)))
}

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
    {
      internal_id: bigint
      product_id: Buffer
      author_owner: Buffer
      content: string
      flagged: boolean
      age: number
    }[]
  >`
    SELECT internal_id, m.product_id, author_owner, content, a.flagged,
      row_number() OVER (ORDER BY published_at DESC, review_id DESC)::integer AS age
    FROM market.reviews AS m JOIN chain.reviews USING (internal_id) JOIN market.agents AS a ON (a.chain_id, a.agent_id) = (m.chain_id, m.agent_id)
    WHERE m.chain_id = ${chainId} AND content IS NOT NULL ORDER BY internal_id`
  const agents = await sql<{ agent_id: bigint; owner: Buffer; flagged: boolean }[]>`
    SELECT agent_id, owner, flagged FROM chain.identities JOIN market.agents USING (chain_id, agent_id) WHERE chain_id = ${chainId}`
  const trusted = await trustedOwners()
  const honest = (await searchesThatCount()).filter(({ agent_id, owner }) =>
    agents.some((agent) => agent.agent_id === agent_id && agent.owner.equals(owner) && !agent.flagged),
  )
  return products.map(({ merchant_id, product_id, is_known, owner, is_open }) => {
    const own = reviews.filter((review) => is_known && review.product_id.equals(product_id))
    const heard = own
      .filter((review) => !review.flagged && !(owner && review.author_owner.equals(owner)))
      .sort((a, b) => a.age - b.age)
      .slice(0, 20)
    return {
      merchant_id,
      product_id,
      is_open,
      review_count: own.length,
      shortlist: own.map(({ internal_id }) => internal_id),
      evidence: evidenceOf(
        heard.map(({ author_owner, content }) => ({ owner: author_owner.toString('hex'), content })),
      ),
      searches: searchesOf(
        honest
          .filter((row) => is_known && row.product_id.equals(product_id))
          .filter((row) => !owner || !(row.owner.equals(owner) || row.payer.equals(owner)))
          .map((row) => ({
            owner: hex(row.owner),
            words: searchedWords(row.content),
            isTrusted: trusted ? trusted.has(hex(row.owner)) : null,
          })),
      ),
    }
  })
}

const listings = () => database.sql`
  SELECT merchant_id, product_id, is_open, review_count, shortlist, evidence, searches FROM market.listings
  WHERE chain_id = ${chainId} ORDER BY merchant_id, product_id`

it('listings that followed a history are those that all of it together makes', async () => {
  const names = Object.keys(steps) as (keyof typeof steps)[]
  // Most steps are reviews.
  const repeated = [...Array(3).fill('review'), ...Array(6).fill('buy')] as ('review' | 'buy')[]
  const name = fc.constantFrom(...names, ...repeated)
  const step = fc.tuple(name, fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99)), fc.nat(3))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (history) => {
      chainId += 1
      const s = createShops(database.sql, chainId)
      const world: World = { products: [], reviews: [], purchases: [] }
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
