import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleOf } from './examples.ts'
import { EXPECTED_ROUTES, splitName } from './expected-routes.ts'
import { startTradedMarket, type Traded } from './traded.ts'

let m: Traded

beforeAll(async () => {
  m = await startTradedMarket([31_337])
})
afterAll(() => m.close())

describe('a database that cannot answer', () => {
  const TEXTS: Record<string, string> = {
    'GET /v1/spending-limits': 'get failed',
    'GET /v1/spending-limits/budget': 'get failed',
  }
  /** Routes whose answers are made at the start or come from a cache. */
  const WITHOUT_DATABASE = new Set([
    '/.well-known/referrer-agent',
    '/.well-known/referrer-agent.txt',
    '/.well-known/agent-card.json',
    '/skill.md',
    '/v1/auth/nonce',
    '/console/accounts',
    // It has no index here, so it finds nothing, and reads nothing of what it found.
    '/discovery/search',
  ])
  const reads = EXPECTED_ROUTES.filter(([, { auth }]) => auth !== 'admin')
    .map(([name]) => name)
    .filter((name) => name.startsWith('GET ') && !WITHOUT_DATABASE.has(splitName(name)[1]))

  it.each(reads)('%s answers 500, and answers again when it is back [ERR-01]', async (name) => {
    const { path, ...rest } = await exampleOf(m, name)
    await m.sql`ALTER SCHEMA market RENAME TO market_away`
    await m.sql`ALTER SCHEMA chain RENAME TO chain_away`
    try {
      expect(await m.call('GET', path, rest)).toMatchObject({
        status: 500,
        body: { error: TEXTS[name] ?? 'internal error' },
      })
    } finally {
      await m.sql`ALTER SCHEMA chain_away RENAME TO chain`
      await m.sql`ALTER SCHEMA market_away RENAME TO market`
    }
    expect((await m.call('GET', path, rest)).status).toBe(200)
  })

  it.each([
    ['POST /v1/spending-limits', 'market.spending_limits', 'upsert failed'],
    ['POST /v1/proof', 'market.proofs', 'internal error'],
    ['POST /v1/agent/register', 'market.agents', 'internal error'],
    ['POST /v1/review/register', 'market.reviews', 'internal error'],
    ['POST /v1/merchant/register', 'market.merchants', 'internal error'],
    ['POST /v1/auth/session', 'market.sessions', 'internal error'],
  ])('%s answers 500 without %s, `%s` [ERR-01]', async (name, table, text) => {
    const { path, ...rest } = await exampleOf(m, name)
    await m.withoutTable(table, async () => {
      expect(await m.call('POST', path, rest)).toMatchObject({ status: 500, body: { error: text } })
    })
    expect((await m.call('POST', path, rest)).status).toBeLessThan(300)
  })
})

describe('a node that cannot answer', () => {
  it.each(['POST /v1/proof', 'POST /v1/agent/register', 'POST /v1/merchant/register'])(
    '%s answers 500 and has done nothing [ERR-01]',
    async (name) => {
      const { path, ...rest } = await exampleOf(m, name)
      m.nodes.isDown = true
      try {
        expect(await m.call('POST', path, rest)).toMatchObject({
          status: 500,
          body: { error: 'internal error' },
        })
      } finally {
        m.nodes.isDown = false
      }
      expect((await m.call('POST', path, rest)).status).toBe(201)
    },
  )
})
