import type { Sql } from '@referrer/database'
import { type Hit, type Question, quantize } from '@referrer/search'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Catalogues } from '../memory-index/catalogues.ts'
import { servingModel } from '../memory-index/records.ts'
import { asked } from '../memory-index/testing.ts'
import { findProducts } from './find.ts'
import { Keeper } from './keep.ts'
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

const CHAIN = 1
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

async function inPostgres(question: Question): Promise<Hit[]> {
  const indexed = (await readIndexedChains(sql, [CHAIN])).get(CHAIN)
  if (!indexed) throw new Error('the tables are not filled')
  return findProducts(sql, indexed, question, 30_000)
}

async function inMemory(question: Question): Promise<Hit[]> {
  const catalogues = await Catalogues.load(sql, [CHAIN], await servingModel(sql, MODEL), async () => {})
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

it('counts words as if it had read everything anew', async () => {
  const counts = async () => [
    await sql`SELECT term, users, heard FROM search.terms ORDER BY term COLLATE "C"`,
    await sql`SELECT word, users FROM search.words ORDER BY word COLLATE "C"`,
    await sql`SELECT chain_id, size FROM search.catalogues`,
  ]
  const followed = await counts()
  await sql`TRUNCATE search.catalogues, search.products, search.terms, search.words`
  await keeper.loadAll(never)
  expect(await counts()).toEqual(followed)
})

it('writes nothing where nothing differs', async () => {
  const versions = () => sql`SELECT product_id, xmin::text FROM search.products ORDER BY product_id`
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
  await sql`SELECT set_config('enable_seqscan', 'off', false), set_config('enable_sort', 'off', false)`
  const hits = await inPostgres(asked('', { vector: vectorOf(2, 3), ceiling: 2, limit: 30 }))
  await sql`RESET ALL`
  const cheap = [...many].flatMap(([number, { price }]) => (price === 1 ? keyOfListed(number) : []))
  expect(hits.map(({ key }) => key).filter((key) => cheap.includes(key))).toHaveLength(30)
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
