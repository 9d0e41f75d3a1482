// What strangers ask for, all at once, takes few connections: the others are left for everybody else.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from './caller.ts'
import { startTradedMarket, type Traded } from './traded.ts'

/** How many of a kind are read at once, each with at most two statements. */
const MOST_STATEMENTS = 4 * 2
/** More, and fewer than there are connections: a service that reads all of them at once still answers, and the test fails at once. */
const ASKED = MOST_STATEMENTS + 1
const CACHE_MS = 6_000

let m: Traded

beforeAll(async () => {
  m = await startTradedMarket([31_337])
})
afterAll(() => m.close())
beforeEach(() => {
  m.clock.aheadMs += CACHE_MS
})

const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T00:00:00Z`

/** By route: the table whose reads are held up, and requests that have different answers. */
const HEAVY: [path: string, table: string, of: (number: number) => string][] = [
  ['/v1/leaderboard', 'market.review_ranks', (number) => `?page=${number}`],
  ['/v1/activity/reviews', 'market.reviews', (number) => `?limit=${number}`],
  ['/v1/product', 'market.products', (number) => `?limit=${number}`],
  ['/v1/product/reviews', 'chain.reviews', (number) => `?PRODUCT&sort=newest&limit=${number}`],
  ['/v1/agent/AGENT/reviews', 'chain.reviews', (number) => `?limit=${number}`],
  ['/v1/agent/AGENT/earnings/daily', 'market.earning_days', (number) => `?to=${day(number)}`],
  ['/v1/escrow/', 'chain.escrows', (number) => String(number)],
  ['/v1/merchant/', 'chain.merchant_roles', (number) => `${number}/signers`],
]

describe('many different questions at once', () => {
  it.each(HEAVY)('to %s leave connections to others', async (path, table, of) => {
    const { merchantId, product } = m.shop
    const fill = (text: string) =>
      text
        .replace('AGENT', String(m.reviewerAgentId))
        .replace('PRODUCT', `merchant_id=${merchantId}&product_id=${product.productId}`)
    const waiting = async () => {
      const [row] = await m.sql<[{ count: number }]>`
        SELECT count(*)::int AS count FROM pg_locks
        WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND relation = ${table}::regclass AND NOT granted`
      return row.count
    }
    const asked = await m.sql.begin(async (tx) => {
      await tx`LOCK TABLE ${tx(table)} IN ACCESS EXCLUSIVE MODE`
      const answers = Array.from({ length: ASKED }, (_, at) => m.call('GET', fill(path + of(at + 1))))
      await until(async () => (await waiting()) >= 4, 'the first reads to wait')
      // The last one has come in when a request that is sent after it has its answer.
      await must(m.call('GET', '/v1/stats'))
      expect(await waiting()).toBeLessThanOrEqual(MOST_STATEMENTS)
      return answers
    })
    for (const { status } of await Promise.all(asked)) expect([200, 404]).toContain(status)
  })
})
