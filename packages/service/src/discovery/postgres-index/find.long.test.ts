import type { Sql } from '@referrer/database'
import { type Hit, keyOf, type Question, quantize, readKey } from '@referrer/search'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { servingModel } from '../memory-index/records.ts'
import { asked, loadCatalogues } from '../memory-index/testing.ts'
import { hasIndex } from './build.ts'
import { type IndexedChain, readNearest, searchSettings, type Way } from './candidates.ts'
import { explainProducts, findProducts } from './find.ts'
import { Keeper } from './keep.ts'
import { listOf, listOfCategory } from './lists.ts'
import type { VectorTable } from './models.ts'
import { prepareSchema } from './schema.ts'
import { postgresSource, readIndexedChains, readIndexState } from './source.ts'
import {
  closeListing,
  contextOn,
  keyOfListed,
  type Listed,
  list,
  openVectorDatabase,
  useModel,
  type VectorDatabase,
} from './testing.ts'
import { readQuestion } from './vocabulary.ts'

const CHAIN = 1
const LARGE_CHAIN = 2
const MODEL = 'endpoint/test@8'
const OTHER_MODEL = 'endpoint/other@4'
const DIMS = 8
const never = new AbortController().signal
const progress = () => {}

const THINGS = ['forecast', 'headphones', 'translation', 'route', 'invoice', 'smartwatch', 'recipe', 'chart']
const KINDS = ['Weather', 'Wireless', 'German', 'Bicycle', 'Paper', 'Running', 'Vegan', 'Tidal']

let database: VectorDatabase
let sql: Sql
let keeper: Keeper

/** Vectors of the same thing point in nearly the same direction. */
const vectorOf = (thing: number, kind: number) =>
  quantize(Array.from({ length: DIMS }, (_, axis) => (axis === thing ? 4 : 0) + Math.sin(7 * kind + axis)))

const corpus = new Map<number, Listed>(
  THINGS.flatMap((thing, at) =>
    KINDS.map((kind, number): [number, Listed] => [
      8 * at + number + 1,
      {
        name: `${kind} ${thing}`,
        category: number % 3 === 0 ? 'data' : 'goods',
        description: `A ${thing} of the ${kind.toLowerCase()} kind, for agents that ask ${KINDS[(number + 3) % 8]}`,
        evidence: number === 2 ? 'dependable dependable' : '',
        rank: ((5 * at + 3 * number) % 10) / 10,
        leastPrice: 100 * number,
        ...(number % 2 === 0 && { price: 100 * number + 50 }),
        ...(number !== 5 && { vector: vectorOf(at, number) }),
      },
    ]),
  ),
)

beforeAll(async () => {
  database = await openVectorDatabase()
  sql = database.sql
  await prepareSchema(sql)
  await useModel(sql, MODEL, DIMS)
  await list(sql, CHAIN, MODEL, corpus)
  keeper = new Keeper({ sql, transaction }, { chainIds: [CHAIN], configuredId: MODEL, progress })
  await keeper.loadAll(never)
})
afterAll(() => database?.close())

const transaction = <T>(work: Parameters<typeof sql.begin<T>>[1]) => sql.begin(work) as Promise<T>

async function chainOf(chainId: number): Promise<IndexedChain> {
  const indexed = (await readIndexedChains(sql, [chainId])).get(chainId)
  if (!indexed) throw new Error('the tables are not filled')
  return indexed
}

const inPostgres = async (question: Question): Promise<Hit[]> =>
  findProducts(sql, await chainOf(CHAIN), question, 30_000)

async function inMemory(question: Question): Promise<Hit[]> {
  const catalogues = await loadCatalogues(sql, [CHAIN], await servingModel(sql, MODEL))
  return catalogues.find(CHAIN, question)
}

const rounded = (hits: readonly Hit[]) =>
  hits.map(({ intentMatch, ...hit }) => ({ ...hit, intentMatch: intentMatch.toFixed(4) }))

it.each<[string, Question]>([
  ['a name', asked('weather forecast')],
  ['words of a description', asked('agents that ask bicycle')],
  ['a misspelt word', asked('wether forcast')],
  ['a word in two', asked('running smart watch')],
  ['two words in one', asked('paperinvoice')],
  ['a word that only reviews use', asked('dependable')],
  ['a word that nobody uses', asked('zeppelin')],
  ['no words', asked('')],
  ['a vector alone', asked('', { vector: vectorOf(3, 4) })],
  ['words and a vector', asked('something for a long ride', { vector: vectorOf(3, 4) })],
  ['words that the vector contradicts', asked('vegan recipe', { vector: vectorOf(0, 0) })],
  ['a vector of another model', asked('tidal chart', { vector: quantize([1, 2, 3]) })],
  ['a category', asked('forecast', { category: 'data', vector: vectorOf(0, 1) })],
  ['a category that nobody is in', asked('forecast', { category: 'none', vector: vectorOf(0, 1) })],
  ['a ceiling', asked('headphones', { ceiling: 250, vector: vectorOf(1, 1) })],
  ['quotes and operators', asked(`o'clock & (forecast | !chart) \\ : * <->`)],
  ['many hits', asked('a kind of forecast', { limit: 50, vector: vectorOf(0, 0) })],
])('finds by %s what the index in memory finds', async (_, question) => {
  const hits = await inPostgres(question)
  expect(rounded(hits)).toEqual(rounded(await inMemory(question)))
})

it.each<[string, Question]>([
  ['words alone', asked('i need a wether forcast')],
  ['words and a vector', asked('running smart watch zeppelin', { vector: vectorOf(5, 4) })],
])('explains an answer by %s as the index in memory does', async (_, question) => {
  const indexed = (await readIndexedChains(sql, [CHAIN])).get(CHAIN)
  if (!indexed) throw new Error('the tables are not filled')
  const explained = await explainProducts(sql, indexed, question, 30_000)
  const catalogues = await loadCatalogues(sql, [CHAIN], await servingModel(sql, MODEL))
  const expected = catalogues.explain(CHAIN, question)
  if (!expected) throw new Error('the chain is not loaded')
  expect(explained.hits.length).toBeGreaterThan(0)
  expect(explained.reading).toEqual(expected.reading)
  expect(explained.share).toBeCloseTo(expected.share, 4)
  expect(explained.hits.map(({ key }) => key)).toEqual(expected.hits.map(({ key }) => key))
  for (const [at, { words, near, intentMatch }] of explained.hits.entries()) {
    expect(words).toBeCloseTo(expected.hits[at]?.words ?? -1, 4)
    expect(near).toBeCloseTo(expected.hits[at]?.near ?? -1, 3)
    expect((1 - explained.share) * words + explained.share * near).toBeCloseTo(intentMatch, 12)
  }
})

it('follows what is renamed, priced, closed and added', async () => {
  const renamed = {
    ...corpus.get(1),
    name: 'Lunar ephemeris',
    rank: 1,
    price: 7,
    leastPrice: 5,
    vector: vectorOf(7, 7),
  }
  await list(
    sql,
    CHAIN,
    MODEL,
    new Map<number, Listed>([
      [1, renamed],
      [500, { name: 'Solar ephemeris', rank: 0 }],
    ]),
  )
  await closeListing(sql, CHAIN, 2)
  await keeper.poll(never)
  const keys = async (question: Question) => (await inPostgres(question)).map(({ key }) => key)
  expect(await keys(asked('ephemeris'))).toEqual([keyOfListed(1), keyOfListed(500)])
  expect(await keys(asked('ephemeris', { ceiling: 6 }))).toEqual([keyOfListed(500)])
  expect(await keys(asked('wireless forecast', { limit: 100 }))).not.toContain(keyOfListed(2))
  expect(await keys(asked('', { vector: vectorOf(0, 1), limit: 100 }))).not.toContain(keyOfListed(2))
  for (const question of [asked('weather forecast'), asked('lunr', { vector: vectorOf(7, 7), limit: 60 })]) {
    expect(rounded(await inPostgres(question))).toEqual(rounded(await inMemory(question)))
  }
})

it('forgets what was closed while nobody kept the tables', async () => {
  await closeListing(sql, CHAIN, 3)
  const next = new Keeper({ sql, transaction }, { chainIds: [CHAIN], configuredId: MODEL, progress })
  await next.loadAll(never)
  const hits = await inPostgres(asked('german forecast', { vector: vectorOf(0, 2), limit: 100 }))
  expect(hits.map(({ key }) => key)).not.toContain(keyOfListed(3))
  keeper = next
})

it('goes on where the tables stand, and compares everything on another server', async () => {
  const lost = keyOfListed(20)
  const question = asked('german translation', { limit: 100 })
  const keys = async () => (await inPostgres(question)).map(({ key }) => key)
  const restarted = async () => {
    keeper = new Keeper({ sql, transaction }, { chainIds: [CHAIN], configuredId: MODEL, progress })
    await keeper.start(never)
    return keys()
  }
  expect(await keys()).toEqual(expect.arrayContaining([lost, keyOfListed(19)]))
  // What nobody changed is only missed by a keeper that compares everything.
  await sql`
    WITH gone AS (DELETE FROM search.documents WHERE product_id = ${readKey(lost).productId} RETURNING slot)
    DELETE FROM search.products WHERE slot IN (SELECT slot FROM gone)`
  await closeListing(sql, CHAIN, 19)
  const followed = await restarted()
  expect(followed).not.toContain(lost)
  expect(followed).not.toContain(keyOfListed(19))
  await sql`UPDATE search.catalogues SET made_with = 'another server'`
  const compared = await restarted()
  expect(compared).toContain(lost)
  expect(compared).not.toContain(keyOfListed(19))
})

it('counts as if it had read everything anew', async () => {
  const counts = async () => [
    await sql`
      SELECT t.term, l.list - 8 * t.number AS step, l.entries FROM search.lengths AS l
      JOIN search.terms AS t ON t.number = l.list / 8 ORDER BY t.term COLLATE "C", step`,
    await sql`SELECT word, users FROM search.words WHERE users > 0 ORDER BY word COLLATE "C"`,
    await sql`SELECT chain_id, size FROM search.catalogues`,
  ]
  await sql`UPDATE search.catalogues SET is_ready = false`
  await keeper.loadAll(never)
  await list(sql, CHAIN, MODEL, new Map([[40, { name: 'Barometer', rank: 0.9, leastPrice: 70_000 }]]))
  await list(sql, CHAIN, MODEL, new Map([[41, { ...corpus.get(41), rank: 0.02, price: 9_000_000 }]]))
  await closeListing(sql, CHAIN, 42)
  await keeper.poll(never)
  const followed = await counts()
  await sql`TRUNCATE search.catalogues, search.products, search.documents, search.terms, search.lengths, search.words, search.vectors_1`
  keeper = new Keeper({ sql, transaction }, { chainIds: [CHAIN], configuredId: MODEL, progress })
  await keeper.loadAll(never)
  expect(await counts()).toEqual(followed)
})

it('writes nothing where nothing differs', async () => {
  const versions = () => sql`
    SELECT slot, p.xmin::text AS product, d.xmin::text AS document, v.xmin::text AS vector
    FROM search.products AS p JOIN search.documents AS d USING (slot) LEFT JOIN search.vectors_1 AS v USING (slot) ORDER BY slot`
  const before = await versions()
  await keeper.loadAll(never)
  expect(await versions()).toEqual(before)
})

it('goes on along the index until enough pass the filters', async () => {
  const many = new Map(
    Array.from({ length: 600 }, (_, index): [number, Listed] => [
      1_000 + index,
      // The cheap products are farther from the question than all others.
      index < 30
        ? {
            name: 'Thing',
            price: 1,
            vector: vectorOf(2, index).map((value, axis) => (axis === 6 ? 127 : value)),
          }
        : { name: 'Thing', price: 1_000, vector: vectorOf(2, index) },
    ]),
  )
  await list(sql, CHAIN, MODEL, many)
  await keeper.poll(never)
  const indexed = await chainOf(CHAIN)
  const rows = await sql.begin(async (tx) => {
    await searchSettings(tx, 30_000)
    // With so few products, sorting all of them would be cheaper.
    await tx`SELECT set_config('enable_sort', 'off', true)`
    const filter = { category: undefined, ceiling: 2, groups: [] }
    return readNearest(tx, indexed.vectors as VectorTable, vectorOf(2, 3), {
      filter,
      way: 'index',
      limit: 30,
    })
  })
  const cheap = new Set([...many].flatMap(([number, { price }]) => (price === 1 ? keyOfListed(number) : [])))
  const found = rows.map(({ merchant_id, product_id }) => keyOf(merchant_id, product_id))
  expect(found.filter((key) => cheap.has(key))).toHaveLength(30)
})

it.each<[string, number | undefined]>([
  ['a category', undefined],
  ['a category and a ceiling', 500],
])('compares all of %s, wherever the vectors lie', async (_, ceiling) => {
  const things = new Map(
    Array.from({ length: 300 }, (_, index): [number, Listed] => [
      3_000 + index,
      {
        name: 'Instrument',
        category: index % 3 === 0 ? 'optics' : 'other',
        price: index % 2 === 0 ? 100 : 1_000,
        vector: vectorOf(index % 8, index),
      },
    ]),
  )
  await list(sql, CHAIN, MODEL, things)
  await keeper.poll(never)
  const { vectors } = await chainOf(CHAIN)
  const { category } = await readQuestion(sql, { chainId: CHAIN, size: 1 }, '', listOfCategory('optics').term)
  const filter = { category: listOf(category?.number ?? 0, 0), ceiling, groups: [] }
  const nearest = (way: Way) =>
    sql.begin(async (tx) => {
      await searchSettings(tx, 30_000)
      const rows = await readNearest(tx, vectors as VectorTable, vectorOf(2, 3), { filter, way, limit: 10 })
      return rows.map(({ merchant_id, product_id, cosine }) => [keyOf(merchant_id, product_id), cosine])
    })
  const found = await nearest('category')
  const passing = [...things].filter(
    ([, { category, price = 0 }]) => category === 'optics' && price <= (ceiling ?? price),
  )
  expect(found).toHaveLength(Math.min(50, passing.length))
  expect(found).toEqual(await nearest('each'))
  expect(passing.map(([number]) => keyOfListed(number))).toEqual(
    expect.arrayContaining(found.map(([key]) => key)),
  )
})

it('builds an index that an earlier version did not, when it goes on', async () => {
  const isThere = () => hasIndex(sql, 'vectors_1_by_category')
  expect(await isThere()).toBe(true)
  await keeper.loadAll(never)
  await sql`DROP INDEX search.vectors_1_by_category`
  keeper = new Keeper({ sql, transaction }, { chainIds: [CHAIN], configuredId: MODEL, progress })
  await keeper.start(never)
  expect(await isThere()).toBe(true)
})

it('finds in lists, of more products than it would score one by one, what the index in memory finds', async () => {
  const words = [...THINGS, ...KINDS, 'quiet', 'light', 'fast', 'cheap', 'solid', 'plain', 'blue', 'round']
  const word = (number: number, salt: number) => words[(number * salt + (number >> 3)) % words.length] ?? ''
  const products = new Map(
    Array.from({ length: 1_200 }, (_, number): [number, Listed] => [
      number + 1,
      {
        name: `${word(number, 3)} ${word(number, 7)} n${number}`,
        category: `c${number % 7}`,
        description: [11, 13, 17, 19].map((salt) => word(number, salt)).join(' '),
        rank: ((number * 37) % 100) / 100,
        price: 10 ** (number % 6),
        vector: vectorOf(number % 8, number),
      },
    ]),
  )
  await list(sql, LARGE_CHAIN, MODEL, products)
  const large = new Keeper({ sql, transaction }, { chainIds: [LARGE_CHAIN], configuredId: MODEL, progress })
  await large.loadAll(never)
  const questions = [
    asked('quiet forecast'),
    asked('solid blue headphones for running', { vector: vectorOf(1, 5) }),
    asked('n77 route'),
    asked('invoce in german'),
    asked('vegan recipe', { category: 'c3' }),
    asked('tidal chart', { ceiling: 100 }),
    asked('fast bicycle', { category: 'c1', ceiling: 1_000, vector: vectorOf(3, 1) }),
  ]
  const catalogues = await loadCatalogues(sql, [LARGE_CHAIN], await servingModel(sql, MODEL))
  for (const question of questions) {
    const hits = await findProducts(sql, await chainOf(LARGE_CHAIN), question, 30_000)
    expect(rounded(hits)).toEqual(rounded(catalogues.find(LARGE_CHAIN, question)))
  }
})

it('cannot tell before the tables were looked at, nor when Postgres fails', async () => {
  const context = contextOn(sql)
  const source = postgresSource(context)
  expect(await source.find(CHAIN, asked('tidal chart'))).toBeUndefined()
  await readIndexState(context)
  expect(source.embedderId).toBe(MODEL)
  expect((await source.find(CHAIN, asked('tidal chart')))?.[0]?.key).toBe(keyOfListed(64))
  await sql`ALTER TABLE search.terms RENAME TO lost`
  expect(await source.find(CHAIN, asked('tidal chart'))).toBeUndefined()
  await sql`ALTER TABLE search.lost RENAME TO terms`
  expect(await source.find(CHAIN + 1, asked('tidal chart'))).toBeUndefined()
})

it('answers with the vectors of another model as soon as all of them are there', async () => {
  const indexed = async () => (await readIndexedChains(sql, [CHAIN])).get(CHAIN)
  await useModel(sql, OTHER_MODEL, 4)
  await list(
    sql,
    CHAIN,
    OTHER_MODEL,
    new Map([[1, { name: 'Lunar ephemeris', vector: quantize([1, 0, 0, 0]) }]]),
  )
  const other = new Keeper(
    { sql, transaction: (work) => sql.begin(work) as ReturnType<typeof work> },
    { chainIds: [CHAIN], configuredId: OTHER_MODEL, progress },
  )
  expect((await indexed())?.vectors?.embedderId).toBe(MODEL)
  await other.loadAll(never)
  expect((await indexed())?.vectors).toMatchObject({ embedderId: OTHER_MODEL, dims: 4 })
  const [hit] = await inPostgres(asked('', { vector: quantize([9, 1, 0, 0]) }))
  expect(hit?.key).toBe(keyOfListed(1))
})
