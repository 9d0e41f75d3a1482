import type { Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createShops, type Shops } from '../../derived/listings/testing.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { changedProducts, currentSnapshot } from './records.ts'
import { asked, loadCatalogues } from './testing.ts'

const CHAIN = 1
const MERCHANT = 900
const WORDS_ALONE = { embedderId: undefined, dims: 0, cells: new Map() }

let database: TestDatabase
let sql: Sql
let s: Shops

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = database.sql
  s = createShops(sql, CHAIN)
  await s.agent(MERCHANT, MERCHANT)
  await s.open(MERCHANT, MERCHANT)
  for (let n = 0; n < 20; n += 1) await s.product(0, MERCHANT)
  await s.follow()
})
afterAll(() => database.drop())

const load = (meanwhile = async () => {}) => loadCatalogues(sql, [CHAIN], WORDS_ALONE, meanwhile)
const namesAll = (name: string) =>
  sql.begin(async (tx) => {
    await tx`UPDATE market.products SET name = ${name} WHERE chain_id = ${CHAIN}`
    await tx`UPDATE market.listings SET changed_in = pg_current_xact_id() WHERE chain_id = ${CHAIN}`
  })

it('hold what changed while they were loaded', async () => {
  await namesAll('before')
  let times = 0
  const catalogues = await load(async () => {
    if (times++ === 0) await namesAll('after')
  })
  expect(catalogues.find(CHAIN, asked('before', { limit: 100 }))).toEqual([])
  expect(catalogues.find(CHAIN, asked('after', { limit: 100 }))).toHaveLength(20)
})

it('are not told again and again of what another server changed, before its records came here', async () => {
  await sql`UPDATE market.listings SET changed_in = '1000000000000' WHERE chain_id = ${CHAIN}`
  const catalogues = await load()
  const changed = changedProducts(sql, [CHAIN], undefined, await currentSnapshot(sql), 100)
  expect(await changed.next()).toEqual({ done: true, value: undefined })
  await namesAll('restored')
  await catalogues.follow(sql)
  expect(catalogues.find(CHAIN, asked('restored', { limit: 100 }))).toHaveLength(20)
})

it('are found by what buyers searched for, as by what reviews say, when they are loaded and when it changes', async () => {
  const say = (evidence: string, searches: string) => sql`
    UPDATE market.listings SET evidence = ${evidence}, searches = ${searches}, changed_in = pg_current_xact_id()
    WHERE chain_id = ${CHAIN}`
  await say('comfortable', 'emblem')
  const catalogues = await load()
  const found = (word: string) => catalogues.find(CHAIN, asked(word, { limit: 100 })).length
  expect([found('comfortable'), found('emblem'), found('logo')]).toEqual([20, 20, 0])
  await say('', 'logo')
  await catalogues.follow(sql)
  expect([found('comfortable'), found('emblem'), found('logo')]).toEqual([0, 0, 20])
})
