import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { Secret } from '@referrer/process'
import { AttributionToken } from '@referrer/protocol'
import { type Hex, numberToHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadAttestation } from '../../kit/attestation.ts'
import type { Chain, Context } from '../../kit/context.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { until } from '../../machinery/workers/testing.ts'
import { findReviews } from '../reviews/store.ts'
import { refreshLinks, refreshRefTokens } from './refresh.ts'
import { findUnlinkedProducts, lockEndpoint } from './store.ts'

const CHAIN = 1
const PRODUCT = Buffer.alloc(32, 7)
const KEY = { chainId: CHAIN, merchantId: 3n, productId: PRODUCT }
/** More than two batches. */
const REVIEWS = 450
const ROUTER = numberToHex(0xabc, { size: 20 })

let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase(migrations)
  await database.sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await tx`INSERT INTO chain.products VALUES (${CHAIN}, 3, ${PRODUCT}, 500, 1, 1, '', true, now())`
    await tx`INSERT INTO market.products (chain_id, merchant_id, product_id) VALUES (${CHAIN}, 3, ${PRODUCT})`
    await tx`INSERT INTO market.review_ranks (chain_id, agent_id, one_off) VALUES (${CHAIN}, 1, 0.5)`
    await tx`INSERT INTO market.agents (chain_id, agent_id, flagged) VALUES (${CHAIN}, 2, true)`
    await tx`
      INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, content)
      SELECT ${CHAIN}, n, 3, ${PRODUCT}, '\\x00', 1, n, 100, '{"rating":5}' FROM generate_series(1, ${REVIEWS}) AS n`
    await tx`
      INSERT INTO chain.reviews
      SELECT chain_id, proof_id, internal_id, agent_id, merchant_id, product_id, published_hash, 1, proof_id, now()
      FROM market.reviews`
  })
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.sql`UPDATE market.reviews SET ref_token = NULL, ref_key = NULL, ref_review_id = NULL`
  await sell(null)
  await database.sql`UPDATE market.products SET linked_endpoint = NULL, linked_signer = ''`
})

async function contextOf(seed: number | undefined): Promise<Context & { chain: Chain }> {
  const seeds = seed === undefined ? undefined : [new Secret<Hex>(numberToHex(seed, { size: 32 }))]
  const config = { chainId: CHAIN, contracts: { SplitRouter: [ROUTER] } }
  const chain = { config, attestation: await loadAttestation(CHAIN, { seeds }) } as unknown as Chain
  const context = { sql: database.sql, clock: () => 1_750_000_000_000, chains: new Map([[CHAIN, chain]]) }
  return { ...(context as unknown as Context), chain }
}

const sell = (endpoint: string | null) => database.sql`UPDATE market.products SET endpoint_url = ${endpoint}`

async function endpoints(): Promise<Map<string | null, number>> {
  const rows = await database.sql<
    { ref_token: string | null }[]
  >`SELECT ref_token FROM market.reviews ORDER BY internal_id DESC`
  const all = rows.map(({ ref_token: token }) =>
    token ? AttributionToken.decodeUnverified(token).merchantEndpoint : null,
  )
  return new Map([...Map.groupBy(all, (endpoint) => endpoint)].map(([name, some]) => [name, some.length]))
}

const run = async (context: Context, signal = new AbortController().signal) =>
  refreshLinks(context).run({ signal, sql: database.sql })

describe('ref links', () => {
  it('are made in batches when a product gets an endpoint, and carry the terms of their review', async () => {
    const context = await contextOf(1)
    await run(context)
    expect(await endpoints()).toEqual(new Map([[null, REVIEWS]]))
    await sell('https://a.test/')
    await refreshRefTokens(context, KEY)
    expect(await endpoints()).toEqual(
      new Map([
        ['https://a.test/', 200],
        [null, REVIEWS - 200],
      ]),
    )
    await run(context)
    expect(await endpoints()).toEqual(new Map([['https://a.test/', REVIEWS]]))
    const rows = await findReviews(
      database.sql,
      [1n, 2n, 3n].map((reviewId) => ({ chainId: CHAIN, reviewId })),
    )
    const ring = context.chain.attestation?.ring
    if (!ring) throw new Error('no key')
    const tokens = await Promise.all(
      rows
        .toSorted((a, b) => Number(a.review_id - b.review_id))
        .map(({ ref_token }) => AttributionToken.verify(ref_token, ring)),
    )
    expect(tokens).toMatchObject([
      { reviewId: 1, reviewerAgentId: 1, merchantId: 3, commissionMultiplierBps: 7_000 },
      { reviewId: 2, reviewerAgentId: 2, cashbackOfCommissionBps: 100, commissionMultiplierBps: 4_000 },
      { reviewId: 3, issuedAt: 1_750_000_000, commissionMultiplierBps: 6_502 },
    ])
  })

  it('are left alone when nothing changed, and made anew when the endpoint or the key does', async () => {
    await sell('https://a.test/')
    await run(await contextOf(1))
    const before = await database.sql`SELECT ref_token FROM market.reviews ORDER BY internal_id`
    await run({ ...(await contextOf(1)), clock: () => 1_760_000_000_000 })
    expect(await database.sql`SELECT ref_token FROM market.reviews ORDER BY internal_id`).toEqual(before)
    await sell('https://b.test/')
    await run(await contextOf(1))
    expect(await endpoints()).toEqual(new Map([['https://b.test/', REVIEWS]]))
    const other = await contextOf(2)
    await run(other)
    const [row] = await database.sql<{ ref_token: string }[]>`SELECT ref_token FROM market.reviews LIMIT 1`
    expect(AttributionToken.decodeUnverified(row?.ref_token).kid).toBe(other.chain.attestation?.key?.kid)
    await run(await contextOf(undefined))
    expect(await endpoints()).toEqual(new Map([[null, REVIEWS]]))
  })

  it('end up all alike when several make them while the endpoint changes', async () => {
    const context = await contextOf(1)
    await sell('https://a.test/')
    const runs = [run(context), run(context), refreshRefTokens(context, KEY)]
    await sell('https://b.test/')
    await Promise.all([...runs, run(context)])
    await run(context)
    expect(await endpoints()).toEqual(new Map([['https://b.test/', REVIEWS]]))
    expect(await findUnlinkedProducts(database.sql, CHAIN, 'x', 10)).toHaveLength(1)
  })

  it('begin again when the endpoint changes between two batches', async () => {
    const context = await contextOf(1)
    await sell('https://a.test/')
    let sold: Promise<unknown> | undefined
    const clock = () => {
      sold ??= sell('https://b.test/').then(() => {})
      return 1_750_000_000_000
    }
    await run({ ...context, clock })
    await sold
    await run(context)
    expect(await endpoints()).toEqual(new Map([['https://b.test/', REVIEWS]]))
  })

  it('are made of an endpoint that does not change meanwhile', async () => {
    for (const lock of ['one review', 'all'] as const) {
      let change: Promise<unknown> | undefined
      await database.sql.begin(async (tx) => {
        await lockEndpoint(tx, KEY, lock)
        change = sell('https://later.test/').then(() => 'changed')
        const waits = () => database.sql`
          SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%endpoint_url%'`
        await until(async () => (await waits()).length > 0, 'the change to wait')
      })
      expect(await change).toBe('changed')
    }
  })

  it('go on where they were when a run is stopped', async () => {
    const context = await contextOf(1)
    await sell('https://a.test/')
    await expect(run(context, AbortSignal.abort())).rejects.toThrow()
    await run(context)
    expect(await endpoints()).toEqual(new Map([['https://a.test/', REVIEWS]]))
  })

  it('do not show while they name an id that the review no longer has', async () => {
    const context = await contextOf(1)
    await sell('https://a.test/')
    await run(context)
    await database.sql`UPDATE market.reviews SET ref_review_id = 9999 WHERE agent_id = 5`
    const [row] = await findReviews(database.sql, [{ chainId: CHAIN, reviewId: 5n }])
    expect(row?.ref_token).toBeNull()
    await database.sql`UPDATE market.products SET linked_endpoint = NULL`
    await run(context)
    const [again] = await findReviews(database.sql, [{ chainId: CHAIN, reviewId: 5n }])
    expect(again?.ref_token).toBeTypeOf('string')
  })
})
