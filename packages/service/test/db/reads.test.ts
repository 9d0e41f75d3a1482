import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { countReviewsOfAgent, productsReviewedBy } from '../../src/market/agents/reviewed.ts'
import { agentsOfOwner, countAgents, findAgent, listAgents } from '../../src/market/agents/store.ts'
import { escrowsOfAgent, findEscrowOfAgent } from '../../src/market/escrows/store.ts'
import {
  countMerchants,
  findMerchant,
  findProduct,
  listMerchants,
  productIdsOf,
  salesOf,
} from '../../src/market/merchants/store.ts'
import { countPendingProofsOf, findProof, pendingProofsOf } from '../../src/market/proofs/store.ts'
import {
  countProductsToReview,
  productsNotBought,
  productsToReview,
} from '../../src/market/reviewable/store.ts'
import {
  findReviewRecords,
  findReviews,
  listReviews,
  reviewsOfAgent,
  reviewsOfProduct,
} from '../../src/market/reviews/store.ts'
import { fillMarket, productId, WHALES } from '../../src/testing/records.ts'

const CHAIN = 1
const ROWS = 2_000
const all = { limit: 10 * ROWS, offset: 0 }
const { reviewer, buyer, both, prover, merchant } = WHALES

type Key = { merchant_id: bigint; product_id: Buffer }
type Identity = { agent_id: bigint; owner: Buffer }
type Shop = { merchant_id: bigint; active: boolean; suspended: boolean; opened_by: Buffer }
type Ware = Key & { active: boolean }
type Description = Key & { rank: number; category: string }
type Review = Key & {
  review_id: bigint
  internal_id: bigint
  agent_id: bigint
  proof_id: bigint
  proof_kind: number
  published_at: Date
}
type Text = { internal_id: bigint; agent_id: bigint; content: string | null }
type Purchase = Key & {
  escrow_id: bigint
  contract: Buffer
  reviewer_agent_id: bigint
  buyer_agent_id: bigint | null
  deposited_at: Date
}
type Proof = { proof_id: bigint; agent_id: bigint; status: string }

let database: TestDatabase
let identities: Identity[]
let shops: Shop[]
let wares: Ware[]
let descriptions: Description[]
let reviews: Review[]
let texts: Text[]
let purchases: Purchase[]
let proofs: Proof[]

// Compares the stores' indexed reads with plain loops over all rows of the chain.
beforeAll(async () => {
  database = await freshDatabase(migrations)
  const { sql } = database
  for (const chain of [CHAIN + 1, CHAIN]) await fillMarket(sql, chain, ROWS)
  identities = await sql<Identity[]>`SELECT * FROM chain.identities WHERE chain_id = ${CHAIN}`
  shops = await sql<Shop[]>`SELECT * FROM chain.merchants WHERE chain_id = ${CHAIN}`
  wares = await sql<Ware[]>`SELECT * FROM chain.products WHERE chain_id = ${CHAIN}`
  descriptions = await sql<Description[]>`SELECT * FROM market.products WHERE chain_id = ${CHAIN}`
  reviews = await sql<Review[]>`SELECT * FROM chain.reviews WHERE chain_id = ${CHAIN}`
  texts = await sql<Text[]>`SELECT * FROM market.reviews WHERE chain_id = ${CHAIN}`
  purchases = await sql<Purchase[]>`SELECT * FROM chain.escrows WHERE chain_id = ${CHAIN}`
  proofs = await sql<Proof[]>`SELECT * FROM market.proofs WHERE chain_id = ${CHAIN}`
})
afterAll(() => database.drop())

/** Compares by one key after the other, until two differ. */
const by =
  <T>(...keys: ((row: T) => bigint | number | string)[]) =>
  (a: T, b: T): number => {
    for (const key of keys) {
      const [left, right] = [key(a), key(b)]
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  }
const keyOf = ({ merchant_id, product_id }: Key) => `${merchant_id}/${product_id.toString('hex')}`
const unique = <T>(values: T[]) => [...new Set(values)]
const isPublished = ({ internal_id }: { internal_id: bigint }) =>
  texts.some((text) => text.internal_id === internal_id && text.content !== null)
const internalIds = (rows: { internal_id: bigint }[]) => rows.map(({ internal_id }) => internal_id)

describe('reviews', () => {
  const published = () => reviews.filter(isPublished).sort(by(({ internal_id }) => -internal_id))

  it('are listed when they are on the chain and their text is known, newest record first', async () => {
    const expected = internalIds(published())
    expect(internalIds((await listReviews(database.sql, CHAIN, all)).rows)).toEqual(expected)
    const some = await listReviews(database.sql, CHAIN, { limit: 7, offset: 13 })
    expect(internalIds(some.rows)).toEqual(expected.slice(13, 20))
    const beyond = await listReviews(database.sql, CHAIN, { limit: 7, offset: expected.length })
    expect(beyond).toEqual({ rows: [], total: BigInt(expected.length) })
    expect(expected.length).toBeLessThan(reviews.length)
  })

  it('of a product are listed by the time of publication, and in one second by their id', async () => {
    const mine = published().filter(
      (review) => keyOf(review) === keyOf({ merchant_id: 3n, product_id: productId(3) }),
    )
    const expected = mine.sort(
      by<Review>(
        ({ published_at }) => -published_at.getTime(),
        ({ review_id }) => -review_id,
      ),
    )
    const found = await reviewsOfProduct(database.sql, CHAIN, 3n, productId(3))
    expect(internalIds(found)).toEqual(internalIds(expected))
    const times = found.map(({ published_at }) => published_at.getTime())
    expect(unique(times).length).toBeLessThan(times.length)
  })

  it('of an agent are listed whether published or not, newest first', async () => {
    const mine = texts
      .filter(({ agent_id }) => agent_id === reviewer)
      .sort(by(({ internal_id }) => -internal_id))
    const found = await reviewsOfAgent(database.sql, CHAIN, reviewer, 50)
    expect(internalIds(found)).toEqual(internalIds(mine.slice(0, 50)))
    const published = reviews.filter((review) => review.agent_id === buyer && isPublished(review))
    expect(await countReviewsOfAgent(database.sql, CHAIN, buyer)).toBe(BigInt(published.length))
    const products = await productsReviewedBy(database.sql, CHAIN, buyer)
    expect(products.map(keyOf).sort()).toEqual(unique(published.map(keyOf)).sort())
  })

  it('are found by both of their ids, the one of the record before they are on the chain', async () => {
    const asked = texts.slice(0, 20)
    const records = await findReviewRecords(database.sql, internalIds(asked))
    expect(internalIds(records).sort()).toEqual(internalIds(asked).sort())
    for (const record of records) {
      const onChain = reviews.find(({ internal_id }) => internal_id === record.internal_id)
      expect(record.review_id).toEqual(onChain?.review_id ?? null)
      if (onChain) {
        const key = { chainId: CHAIN, reviewId: onChain.review_id }
        expect(await findReviews(database.sql, [key])).toEqual([record])
        expect(await findReviews(database.sql, [{ ...key, chainId: CHAIN + 7 }])).toEqual([])
      }
    }
    expect(await findReviews(database.sql, [{ chainId: CHAIN, reviewId: 10n ** 9n }])).toEqual([])
  })
})

describe('agents', () => {
  const ids = (rows: { agent_id: bigint }[]) => rows.map(({ agent_id }) => agent_id)

  it('are listed by ascending id when the chain has them', async () => {
    const expected = ids(identities).sort(by(Number))
    expect(ids(await listAgents(database.sql, CHAIN, all))).toEqual(expected)
    expect(ids(await listAgents(database.sql, CHAIN, { limit: 5, offset: 100 }))).toEqual(
      expected.slice(100, 105),
    )
    expect(await countAgents(database.sql, CHAIN)).toBe(BigInt(expected.length))
  })

  it('are found by owner and by id', async () => {
    const owner = identities[42]?.owner ?? Buffer.alloc(20)
    const expected = identities.filter((identity) => identity.owner.equals(owner))
    const found = await agentsOfOwner(database.sql, CHAIN, owner)
    expect(ids(found)).toEqual(ids(expected).sort(by(Number)))
    expect(await findAgent(database.sql, CHAIN, found[1]?.agent_id ?? 0n)).toEqual(found[1])
    expect(await findAgent(database.sql, CHAIN, BigInt(ROWS + 1))).toBeUndefined()
  })
})

describe('escrows', () => {
  const names = (rows: { contract: Buffer; escrow_id: bigint }[]) =>
    rows.map(({ contract, escrow_id }) => `${escrow_id}/${contract.toString('hex')}`)

  it.each([reviewer, buyer, both, 7n])(
    'of agent %i are listed once each, whatever its part, newest first',
    async (agent) => {
      const mine = purchases.filter((one) => [one.reviewer_agent_id, one.buyer_agent_id].includes(agent))
      const expected = names(
        mine.sort(
          by<Purchase>(
            ({ deposited_at }) => -deposited_at.getTime(),
            ({ escrow_id }) => -escrow_id,
            ({ contract }) => contract.toString('hex'),
          ),
        ),
      )
      expect(names(await escrowsOfAgent(database.sql, CHAIN, agent, all))).toEqual(expected)
      const pages = [0, 3, 6, 9].map((offset) =>
        escrowsOfAgent(database.sql, CHAIN, agent, { limit: 3, offset }),
      )
      expect((await Promise.all(pages)).flatMap(names)).toEqual(expected.slice(0, 12))
    },
  )

  it('are found by id among those of an agent, whichever contract has used it', async () => {
    const { sql } = database
    const twice = purchases.filter(({ escrow_id }) => escrow_id === 11n)
    expect(twice).toHaveLength(2)
    for (const { contract, reviewer_agent_id } of twice) {
      const found = await findEscrowOfAgent(sql, CHAIN, reviewer_agent_id, 11n)
      expect(found).toMatchObject({ contract, escrow_id: 11n, reviewer_agent_id })
    }
    expect(await findEscrowOfAgent(sql, CHAIN, both, 11n)).toBeUndefined()
    expect(await findEscrowOfAgent(sql, CHAIN, reviewer, 0n)).toBeUndefined()
  })

  it('are the newest of their id when an agent has a part in several', async () => {
    const { sql } = database
    await sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', 'final', true)`
      await tx`
        INSERT INTO chain.escrows
        SELECT (jsonb_populate_record(e, jsonb_build_object('contract', '\\x00', 'deposited_at', e.deposited_at + interval '1 day'))).*
        FROM chain.escrows AS e WHERE chain_id = ${CHAIN} AND escrow_id = 11 AND reviewer_agent_id = ${reviewer}`
    })
    const found = await findEscrowOfAgent(sql, CHAIN, reviewer, 11n)
    expect(found?.contract).toEqual(Buffer.of(0))
  })
})

describe('products', () => {
  const best = (keys: Set<string>, category?: string) =>
    descriptions
      .filter((one) => keys.has(keyOf(one)) && (category === undefined || one.category === category))
      .sort(
        by<Description>(
          ({ rank }) => -rank,
          ({ merchant_id }) => merchant_id,
          ({ product_id }) => product_id.toString('hex'),
        ),
      )
      .map(keyOf)
  const isOpen = (merchantId: bigint) => {
    const shop = shops.find(({ merchant_id }) => merchant_id === merchantId)
    const owner = identities.find(({ agent_id }) => agent_id === merchantId)?.owner
    return shop?.active && !shop.suspended && owner?.equals(shop.opened_by)
  }
  const boughtBy = (agent: bigint) => purchases.filter(({ buyer_agent_id }) => buyer_agent_id === agent)

  it.each([buyer, both])(
    'that agent %i has not bought are listed while they are on sale, best first',
    async (agent) => {
      const bought = new Set(boughtBy(agent).map(keyOf))
      const open = wares.filter((ware) => ware.active && isOpen(ware.merchant_id) && !bought.has(keyOf(ware)))
      const keys = new Set(open.map(keyOf))
      expect((await productsNotBought(database.sql, CHAIN, agent, all)).map(keyOf)).toEqual(best(keys))
      const some = await productsNotBought(database.sql, CHAIN, agent, {
        limit: 4,
        offset: 9,
        category: 'data',
      })
      expect(some.map(keyOf)).toEqual(best(keys, 'data').slice(9, 13))
    },
  )

  it.each([buyer, both, 7n])(
    'that agent %i should review are those whose newest purchase it has not reviewed',
    async (agent) => {
      const newest = new Map<string, Purchase>()
      for (const one of boughtBy(agent).sort(
        by<Purchase>(
          ({ deposited_at }) => deposited_at.getTime(),
          ({ escrow_id }) => escrow_id,
        ),
      ))
        newest.set(keyOf(one), one)
      const reviewed = (one: Purchase) =>
        reviews.some(
          (review) =>
            review.agent_id === agent &&
            review.proof_kind === 2 &&
            review.proof_id === one.escrow_id &&
            keyOf(review) === keyOf(one) &&
            isPublished(review),
        )
      const expected = new Map([...newest].filter(([, one]) => !reviewed(one)))
      const found = await productsToReview(database.sql, CHAIN, agent, all)
      expect(found.map(keyOf)).toEqual(best(new Set(expected.keys())))
      expect(found.map(({ escrow_id }) => escrow_id)).toEqual(
        found.map((one) => expected.get(keyOf(one))?.escrow_id),
      )
      expect(await countProductsToReview(database.sql, CHAIN, agent)).toBe(BigInt(expected.size))
      const some = await productsToReview(database.sql, CHAIN, agent, {
        limit: 2,
        offset: 1,
        category: 'api',
      })
      expect(some.map(keyOf)).toEqual(best(new Set(expected.keys()), 'api').slice(1, 3))
      if (agent !== 7n) expect([expected.size > 0, expected.size < newest.size]).toEqual([true, true])
    },
  )

  it('are to be reviewed again when only a purchase of the same number from a replaced contract was', async () => {
    const agent = BigInt(ROWS + 100)
    const [bought, other] = [3, 7]
    await database.sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', 'final', true)`
      const purchase = (contract: string, escrowId: number, product: number, at: string) => tx`
        INSERT INTO chain.escrows (chain_id, contract, escrow_id, reviewer_agent_id, buyer_agent_id, payer, nonce, merchant_id, product_id,
          review_id, price, commission, fee, held_back, cashback, window_end, deposited_at, transaction_hash)
        VALUES (${CHAIN}, ${Buffer.from(contract)}, ${escrowId}, 1, ${agent}, '', '', ${product}, ${productId(product)},
          1, 1, 1, 1, 1, 1, now(), ${at}, '')`
      const review = (id: number, escrowId: number, product: number, at: string) => tx`
        WITH record AS (
          INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, content)
          VALUES (${CHAIN}, ${agent}, ${product}, ${productId(product)}, '', 2, ${escrowId}, 0, '{}') RETURNING internal_id)
        INSERT INTO chain.reviews (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash, proof_kind, proof_id, published_at)
        SELECT ${CHAIN}, ${id}, internal_id, ${agent}, ${product}, ${productId(product)}, '', 2, ${escrowId}, ${at} FROM record`
      await purchase('old', 1_000_001, bought, '2026-01-01')
      await review(1_000_001, 1_000_001, bought, '2026-01-02')
      await purchase('new', 1_000_001, bought, '2026-01-03')
      await purchase('old', 1_000_002, bought, '2026-01-01')
      await review(1_000_002, 1_000_002, bought, '2026-01-09')
      await purchase('new', 1_000_002, other, '2026-01-03')
    })
    const found = await productsToReview(database.sql, CHAIN, agent, all)
    expect(found.map(({ merchant_id, escrow_id }) => [merchant_id, escrow_id]).sort()).toEqual([
      [BigInt(bought), 1_000_001n],
      [BigInt(other), 1_000_002n],
    ])
  })

  it('of merchants are listed by id, closed ones too, and found by id', async () => {
    const idsOf = (merchantId: bigint) =>
      wares
        .filter(({ merchant_id }) => merchant_id === merchantId)
        .map(({ product_id }) => product_id)
        .sort(Buffer.compare)
    const all = await productIdsOf(database.sql, CHAIN, [merchant, 3n, -1n], null)
    expect(all).toEqual(
      new Map([
        [merchant, idsOf(merchant)],
        [3n, idsOf(3n)],
        [-1n, []],
      ]),
    )
    const some = await productIdsOf(database.sql, CHAIN, [merchant], 3)
    expect(some).toEqual(new Map([[merchant, idsOf(merchant).slice(0, 3)]]))
    const found = await Promise.all(
      idsOf(merchant).map((id) => findProduct(database.sql, CHAIN, merchant, id)),
    )
    expect(found.map((product) => product?.product_id)).toEqual(idsOf(merchant))
    expect(unique(found.map((product) => product?.active))).toHaveLength(2)
    expect(await findProduct(database.sql, CHAIN, merchant, productId(3))).toBeUndefined()
  })

  it('of a merchant are counted with its sales', async () => {
    const { sql } = database
    const [added] = await sql`
      SELECT count(*) AS conversions, sum(price) AS gross, count(*) FILTER (WHERE market.holds_money(e)) AS held,
        count(*) FILTER (WHERE NOT market.holds_money(e)) AS settled
      FROM chain.escrows AS e WHERE chain_id = ${CHAIN} AND merchant_id = ${merchant}`
    const mine = wares.filter(({ merchant_id }) => merchant_id === merchant)
    const active = mine.filter((product) => product.active)
    expect(await salesOf(sql, CHAIN, merchant)).toEqual({
      ...added,
      products_active: BigInt(active.length),
      products_total: BigInt(mine.length),
    })
    expect(await salesOf(sql, CHAIN, -1n)).toEqual({
      conversions: 0n,
      gross: 0n,
      held: 0n,
      settled: 0n,
      products_active: 0n,
      products_total: 0n,
    })
  })
})

describe('merchants', () => {
  it('are listed by ascending id and found by id', async () => {
    const expected = shops.map(({ merchant_id }) => merchant_id).sort(by(Number))
    const found = await listMerchants(database.sql, CHAIN, all)
    expect(found.map(({ merchant_id }) => merchant_id)).toEqual(expected)
    expect(await listMerchants(database.sql, CHAIN, { limit: 3, offset: 9 })).toEqual(found.slice(9, 12))
    expect(await countMerchants(database.sql, CHAIN)).toBe(BigInt(expected.length))
    expect(await findMerchant(database.sql, CHAIN, found[9]?.merchant_id ?? 0n)).toEqual(found[9])
    expect(await findMerchant(database.sql, CHAIN, -1n)).toBeUndefined()
  })
})

describe('proofs', () => {
  it('that wait are listed newest first, and are found by their own agent only', async () => {
    const mine = proofs.filter(({ agent_id, status }) => agent_id === prover && status === 'pending')
    const expected = mine.map(({ proof_id }) => proof_id).sort(by((id) => -id))
    const found = await pendingProofsOf(database.sql, CHAIN, prover, 10)
    expect(found.map(({ proof_id }) => proof_id)).toEqual(expected.slice(0, 10))
    expect(await countPendingProofsOf(database.sql, CHAIN, prover)).toBe(BigInt(expected.length))
    const id = expected[0] ?? 0n
    expect(await findProof(database.sql, CHAIN, prover, id)).toEqual(found[0])
    expect(await findProof(database.sql, CHAIN, prover + 1n, id)).toBeUndefined()
    expect(await findProof(database.sql, CHAIN + 1, prover, id)).toBeUndefined()
  })
})
