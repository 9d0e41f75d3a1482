import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { quantize } from '@referrer/search'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { startWorkers } from '../../machinery/workers/frame.ts'
import { runAlone, until } from '../../machinery/workers/testing.ts'
import { asked } from '../memory-index/testing.ts'
import { SearchSetupError } from './schema.ts'
import { postgresSearchWorker, postgresSource } from './source.ts'
import { contextOn, keyOfListed, list, useModel } from './testing.ts'

const CHAIN = 1
const MODEL = 'endpoint/test@8'

let database: TestDatabase
let hasVectors: boolean
beforeAll(async () => {
  database = await freshDatabase(migrations)
  const { count } = await database.sql`SELECT FROM pg_available_extensions WHERE name = 'vector'`
  hasVectors = count > 0
})
afterAll(() => database.drop())

it('is kept by a worker of one replica and answers in all of them', async ({ skip }) => {
  if (!hasVectors) {
    console.warn('SKIPPED: this server has no pgvector; TEST_DATABASE_URL may name one that does')
    skip('no pgvector')
  }
  const { sql, url } = database
  await useModel(sql, MODEL, 8)
  await list(
    sql,
    CHAIN,
    MODEL,
    new Map([[1, { name: 'Weather', vector: quantize([1, 0, 0, 0, 0, 0, 0, 0]) }]]),
  )
  const contexts = [contextOn(sql, url), contextOn(sql, url)]
  const workers = contexts.map((context) => runAlone(postgresSearchWorker(context, 20)))
  const finds = (intent: string, number: number) =>
    until(async () => {
      const found = await Promise.all(
        contexts.map((context) => postgresSource(context).find(CHAIN, asked(intent))),
      )
      return found.every((hits) => hits?.[0]?.key === keyOfListed(number))
    }, intent)
  expect(await finds('weather', 1)).toBe(true)
  await list(sql, CHAIN, MODEL, new Map([[2, { name: 'Exchange rates' }]]))
  await finds('rates', 2)
  await workers[0]?.stop()
  await list(sql, CHAIN, MODEL, new Map([[3, { name: 'Tides' }]]))
  await finds('tides', 3).finally(() => workers[1]?.stop())
})

it('says what to do on a server without pgvector', async ({ skip }) => {
  if (hasVectors) skip('this server has pgvector')
  const errors: unknown[] = []
  const workers = startWorkers({
    workers: [postgresSearchWorker(contextOn(database.sql, database.url), 20)],
    onEvent: (event) => event.type === 'worker.failed' && errors.push(event.error),
  })
  await until(() => errors.length > 0, 'the worker to fail')
  await workers.stop({ timeoutMs: 5_000 })
  expect(errors[0]).toBeInstanceOf(SearchSetupError)
  expect((errors[0] as Error).message).toBe(
    'DISCOVERY_INDEX=postgres needs the extension vector (pgvector 0.8 or newer), and this Postgres server does not have it: install it there, or set DISCOVERY_INDEX=memory',
  )
})
