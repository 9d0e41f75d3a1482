import type { Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMON, WORDS_FORMAT } from '../discovery/embeddings/ids.ts'
import { embedIntent } from '../discovery/embeddings/intents.ts'
import { followed, testConfig, testContext } from '../doors/http/testing.ts'
import type { Chain, Context, SenderHealth } from '../kit/context.ts'
import { migrations } from '../machinery/db/migrations.ts'
import { createMetrics } from './metrics.ts'
import { parseExposition } from './parse-exposition.ts'
import { testApp } from './testing.ts'

let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = database.sql
})
afterAll(() => database.drop())

const render = async (overrides: Partial<Context> = {}) =>
  parseExposition(await createMetrics(testContext(sql, overrides).context).render())

describe('GET /metrics', () => {
  it('is well-formed Prometheus text, tells of the process and times requests by route', async () => {
    const app = testApp(testContext(sql).context)
    try {
      const url = await app.listen({ port: 0 })
      await fetch(`${url}/healthz`)
      await fetch(`${url}/no/such/${'route'}?secret=1`)
      const response = await fetch(`${url}/metrics`)
      expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
      const metrics = parseExposition(await response.text())
      expect(metrics.get('process_cpu_seconds_total')).toBeGreaterThan(0)
      const count = (labels: string) => metrics.get(`referrer_http_request_duration_seconds_count{${labels}}`)
      expect(count('method="GET",route="/healthz",status="200"')).toBe(1)
      expect(count('method="GET",route="none",status="404"')).toBe(1)
    } finally {
      await app.close()
    }
  })

  it('stops counting at ten thousand, for each model by itself', async () => {
    await sql`INSERT INTO market.embedders (embedder_id, dims) VALUES ('long', 4), ('short', 4)`
    await sql`
      INSERT INTO market.texts_to_embed (embedder_id, internal_id, text_hash)
      SELECT CASE WHEN n <= 12000 THEN 'long' ELSE 'short' END, n, '' FROM generate_series(1, 12010) AS n`
    const metrics = await render()
    expect(metrics.get('referrer_texts_to_embed{embedder="long"}')).toBe(10_000)
    expect(metrics.get('referrer_texts_to_embed{embedder="short"}')).toBe(10)
    expect(metrics.get('referrer_database_up')).toBe(1)
  })

  it('tells of the last computation of standings, and nothing where there was none', async () => {
    const chains = new Map([[31_337, { rpc: { health: () => [] } } as unknown as Chain]])
    expect([...(await render({ chains })).keys()].filter((name) => name.includes('standing'))).toEqual([])
    await sql`
      INSERT INTO market.standing_passes (chain_id, pass, day, as_of_block, verification_id, verified, owners, shops, computed_at, took_ms)
      SELECT 31337, n, n, 0, 0, n * 2, n * 100, 0, to_timestamp(n * 1000), n * 1500 FROM generate_series(1, 2) AS n`
    const metrics = await render({ clock: () => 2_060_000, chains })
    expect(metrics.get('referrer_standing_age_seconds{chain="31337"}')).toBe(60)
    expect(metrics.get('referrer_standing_pass_seconds{chain="31337"}')).toBe(3)
    expect(metrics.get('referrer_standing_counted{chain="31337",what="owners"}')).toBe(200)
    expect(metrics.get('referrer_standing_counted{chain="31337",what="verified shops"}')).toBe(4)
  })

  it('tells how chains, sender and workers are', async () => {
    const metrics = await render({
      chainHealth: async () => [
        { ...followed, head: 120n, indexed: 100n, lagSeconds: 2.5 },
        {
          ...followed,
          chainId: 1,
          head: null,
          indexed: null,
          lagSeconds: null,
          isActive: false,
          error: 'down',
        },
      ],
      senderHealth: async () => [{ chainId: 1, state: 'pending', count: 3, oldestSeconds: 12 }],
      workerHealth: () => [
        { name: 'search', state: 'running', restarts: 0, error: null },
        { name: 'schedules', state: 'restarting', restarts: 4, error: 'no' },
      ],
    })
    const expected: Record<string, number | undefined> = {
      'referrer_chain_head_block{chain="31337"}': 120,
      'referrer_chain_indexed_block{chain="31337"}': 100,
      'referrer_chain_lag_blocks{chain="31337"}': 20,
      'referrer_chain_lag_seconds{chain="31337"}': 2.5,
      'referrer_chain_active{chain="31337"}': 1,
      'referrer_chain_active{chain="1"}': 0,
      'referrer_chain_head_block{chain="1"}': undefined,
      'referrer_sender_transactions{chain="1",state="pending"}': 3,
      'referrer_sender_oldest_seconds{chain="1",state="pending"}': 12,
      'referrer_worker_up{worker="search"}': 1,
      'referrer_worker_up{worker="schedules"}': 0,
      'referrer_worker_restarts_total{worker="schedules"}': 4,
    }
    for (const [name, value] of Object.entries(expected))
      expect([name, metrics.get(name)]).toEqual([name, value])
  })

  it('counts restarts once however often it is asked, and forgets transactions that are done', async () => {
    const waiting: SenderHealth[] = [{ chainId: 1, state: 'sent', count: 1, oldestSeconds: 2 }]
    const { context } = testContext(sql, {
      senderHealth: async () => waiting,
      workerHealth: () => [{ name: 'search', state: 'running', restarts: 2, error: null }],
    })
    const metrics = createMetrics(context)
    metrics.countEvent({ type: 'schedule.done', schedule: 'quo"te\\' })
    metrics.countEvent({ type: 'schedule.failed', schedule: 'sweep', error: 'no' })
    const sent = 'referrer_sender_transactions{chain="1",state="sent"}'
    expect(parseExposition(await metrics.render()).get(sent)).toBe(1)
    waiting.pop()
    const seen = parseExposition(await metrics.render())
    expect(seen.get('referrer_worker_restarts_total{worker="search"}')).toBe(2)
    expect(seen.get(sent)).toBeUndefined()
    expect(seen.get('referrer_schedule_runs_total{schedule="quo\\"te\\\\",outcome="done"}')).toBe(1)
    expect(seen.get('referrer_schedule_runs_total{schedule="sweep",outcome="failed"}')).toBe(1)
  })

  it('counts texts that wait for a model, and intents by what became of them, however often it is asked', async () => {
    const { context } = testContext(sql, {
      config: testConfig({
        EMBEDDER: 'endpoint',
        EMBEDDINGS_URL: 'http://127.0.0.1:1',
        EMBEDDINGS_MODEL: 'small',
        EMBEDDINGS_DIMENSIONS: '4',
      }),
    })
    await sql`INSERT INTO market.embedders (embedder_id, dims) VALUES ('endpoint/small@4', 4), ('endpoint/large@4', 4)`
    await sql`
      INSERT INTO market.texts_to_embed (embedder_id, internal_id, text_hash)
      SELECT 'endpoint/small@4', number, '' FROM generate_series(1, 3) AS number`
    await embedIntent(context, 'weather', 'endpoint/small@4')
    const metrics = createMetrics(context)
    await metrics.render()
    const seen = parseExposition(await metrics.render())
    expect(seen.get('referrer_texts_to_embed{embedder="endpoint/small@4"}')).toBe(3)
    expect(seen.get('referrer_texts_to_embed{embedder="endpoint/large@4"}')).toBe(0)
    // Of a model that was replaced nobody waits for the rest; while no process embeds at all, everybody does.
    await sql`UPDATE market.embedders SET used_at = now() - interval '11 minutes' WHERE embedder_id = 'endpoint/small@4'`
    expect(
      parseExposition(await metrics.render()).get('referrer_texts_to_embed{embedder="endpoint/small@4"}'),
    ).toBeUndefined()
    await sql`UPDATE market.embedders SET used_at = now() - interval '20 minutes'`
    expect(
      parseExposition(await metrics.render()).get('referrer_texts_to_embed{embedder="endpoint/small@4"}'),
    ).toBe(3)
    expect(seen.get('referrer_intent_vectors_total{outcome="failed"}')).toBe(1)
    expect(seen.get('referrer_intent_vectors_total{outcome="kept"}')).toBe(0)
  })

  it('tells which models there are, and about the word vectors that were learned', async () => {
    await sql`TRUNCATE market.embedders CASCADE`
    const { context } = testContext(sql, { config: testConfig({ EMBEDDER: 'learned' }) })
    const metrics = createMetrics(context)
    const before = parseExposition(await metrics.render())
    expect(before.get(`referrer_embedder{embedder="${COMMON.id}",role="configured"}`)).toBe(1)
    expect(before.get(`referrer_embedder{embedder="${COMMON.id}",role="serving"}`)).toBe(1)
    await sql`
      INSERT INTO market.embedders (embedder_id, dims, ready_at)
      VALUES (${COMMON.id}, ${COMMON.dims}, now()), ('learned/5@9', 9, NULL)`
    await sql`
      INSERT INTO market.word_vectors (number, embedder_id, format, products, lessons, terms, took_ms, learned_at, body)
      VALUES (5, 'learned/5@9', ${WORDS_FORMAT}, 2000, 1234, 10, 2500, now() - interval '1 hour', '')`
    const seen = parseExposition(await metrics.render())
    expect(seen.get('referrer_embedder{embedder="learned/5@9",role="configured"}')).toBe(1)
    expect(seen.get(`referrer_embedder{embedder="${COMMON.id}",role="serving"}`)).toBe(1)
    expect(seen.get(`referrer_embedder{embedder="${COMMON.id}",role="configured"}`)).toBeUndefined()
    expect(seen.get('referrer_word_vectors_lessons{embedder="learned/5@9"}')).toBe(1_234)
    expect(seen.get('referrer_word_vectors_learning_seconds{embedder="learned/5@9"}')).toBe(2.5)
    expect(seen.get('referrer_word_vectors_age_seconds{embedder="learned/5@9"}')).toBeGreaterThanOrEqual(
      3_600,
    )
  })

  it('is there while the database is not', async () => {
    const down = Promise.reject(new Error('down'))
    // A fragment of a statement is never awaited: its rejection must count as handled.
    down.catch(() => {})
    const broken = new Proxy(sql, { apply: () => down })
    const metrics = await render({ sql: broken })
    expect(metrics.get('referrer_database_up')).toBe(0)
    expect(metrics.get('process_cpu_seconds_total')).toBeGreaterThan(0)
    expect(metrics.get('referrer_chain_lag_seconds{chain="31337"}')).toBeUndefined()
  })
})
