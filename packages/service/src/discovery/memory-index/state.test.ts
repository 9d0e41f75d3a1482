import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMetrics } from '../../app/metrics.ts'
import { parseExposition } from '../../app/parse-exposition.ts'
import { testApp } from '../../app/testing.ts'
import { testContext } from '../../doors/http/testing.ts'
import type { Context } from '../../kit/context.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { type SearchState, searchState, searchWorker } from './client.ts'

let database: TestDatabase
let context: Context
let state: SearchState

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())
beforeEach(() => {
  context = testContext(database.sql).context
  state = searchState(context)
})
afterEach(() => vi.restoreAllMocks())

const standing = {
  embedderId: undefined,
  loadSeconds: 1.5,
  chains: [{ chainId: 31_337, products: 12, vectors: 7, isRestored: true }],
}

describe('GET /readyz', () => {
  async function ready() {
    const response = await testApp(context).inject('/readyz')
    return { status: response.statusCode, search: response.json().checks.search }
  }

  it('says nothing of search where nobody keeps an index', async () => {
    expect(await ready()).toEqual({ status: 200, search: undefined })
  })

  it('says not ready until the index has been loaded once', async () => {
    searchWorker(context)
    expect(await ready()).toMatchObject({ status: 503, search: { ok: false } })
    Object.assign(state, { standing, wasLoaded: true })
    expect(await ready()).toMatchObject({
      status: 200,
      search: { ok: true, detail: expect.stringContaining('s behind') },
    })
    state.standing = undefined
    expect(await ready()).toMatchObject({ status: 200, search: { ok: true } })
  })

  it('says ready although nothing was loaded for long: all but discovery answers as ever', async () => {
    searchWorker(context)
    const now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => now + 121_000)
    expect(await ready()).toMatchObject({ status: 200, search: { ok: true } })
  })
})

describe('GET /metrics', () => {
  const figures = async () => {
    const all = parseExposition(await createMetrics(context).render())
    return new Map([...all].filter(([name]) => name.startsWith('referrer_search_')))
  }

  it('tells what the index holds and how old it is', async () => {
    searchWorker(context)
    state.standing = standing
    const told = await figures()
    expect(told.get('referrer_search_products{chain="31337"}')).toBe(12)
    expect(told.get('referrer_search_vectors{chain="31337"}')).toBe(7)
    expect(told.get('referrer_search_load_seconds')).toBe(1.5)
    expect(told.get('referrer_search_restored{chain="31337"}')).toBe(1)
    expect(told.get('referrer_search_age_seconds')).toBeGreaterThan(0)
  })

  it('tells nothing of an index that is not kept', async () => {
    const told = await figures()
    expect([...told.keys()].filter((name) => !name.startsWith('referrer_search_find_seconds'))).toEqual([])
  })

  it('times questions', async () => {
    const metrics = createMetrics(context)
    state.onFind(0.002)
    const told = parseExposition(await metrics.render())
    expect(told.get('referrer_search_find_seconds_count')).toBe(1)
    expect(told.get('referrer_search_find_seconds_bucket{le="0.003"}')).toBe(1)
  })
})
