import type { Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { keyOf } from '@referrer/search'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createShops, type Shops } from '../../derived/listings/testing.ts'
import { bytes32, type Product } from '../../derived/ranks/testing.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { until } from '../../machinery/workers/testing.ts'
import { asked, keysOf, type Replica, replicaContext, startReplica } from './testing.ts'

const MERCHANT = 900
/** Enough that a few changes are a small share. */
const PRODUCTS = 40
const MODEL = 'endpoint/other@4'
const OFF = { EMBEDDER: 'off' }
const ENDPOINT = {
  EMBEDDER: 'endpoint',
  EMBEDDINGS_URL: 'https://models.example/v1',
  EMBEDDINGS_MODEL: 'other',
  EMBEDDINGS_DIMENSIONS: '4',
}
const WORDS = ['weather', 'tides', 'maps', 'rates', 'sea', 'lisbon'] as const
const word = (n: number) => WORDS[n % WORDS.length] as string

let database: TestDatabase
let sql: Sql
let chainId = 0
let s: Shops
let products: Product[] = []
const replicas: Replica[] = []

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = database.sql
})
afterAll(() => database.drop())

beforeEach(async () => {
  chainId += 1
  s = createShops(sql, chainId)
  await s.agent(MERCHANT, MERCHANT)
  await s.open(MERCHANT, MERCHANT)
  products = []
  for (let n = 0; n < PRODUCTS; n += 1) {
    const product = await s.product(0, MERCHANT)
    await s.describe(product, { name: `${word(n)} ${word(n >> 2)} number${n}`, category: 'data' })
    products.push(product)
  }
  await s.follow()
})
afterEach(async () => {
  await stopAll()
  await sql`TRUNCATE market.embedders CASCADE`
})

const stopAll = () => Promise.all(replicas.splice(0).map((replica) => replica.stop()))

async function start(env: Record<string, string> = OFF, snapshotFrom = 1): Promise<Replica> {
  const replica = startReplica(replicaContext(sql, database.url, [chainId], env), { snapshotFrom })
  replicas.push(replica)
  await until(() => replica.state.standing, 'the index to be loaded')
  return replica
}
const isRestored = ({ state }: Replica) => state.standing?.chains[0]?.isRestored
const heads = () => sql<{ snapshot_id: string; parts: number }[]>`
  SELECT snapshot_id, parts FROM market.index_snapshots WHERE chain_id = ${chainId}`
const parts = () => sql`
  FROM market.index_snapshot_parts JOIN market.index_snapshots USING (snapshot_id) WHERE chain_id = ${chainId}`
const written = (isAnother = (_: string) => true) =>
  until(async () => (await heads()).find(({ snapshot_id }) => isAnother(snapshot_id)), 'a snapshot')

/** Starts a replica that writes a snapshot, and stops it. */
async function keep(env = OFF): Promise<string> {
  await start(env)
  const { snapshot_id } = await written()
  await stopAll()
  return snapshot_id
}

const keyOfProduct = (product: Product | undefined) => keyOf(BigInt(MERCHANT), bytes32(product?.number ?? -1))
const hitsOf = ({ index }: Replica, intent: string, more = {}) =>
  until(() => index.find(chainId, asked(intent, { limit: 100, ...more })), 'an answer')
const found = async (replica: Replica, intent: string) => keysOf(await hitsOf(replica, intent))

async function changeSome(): Promise<Product> {
  await s.describe(products[3] as Product, { name: 'Renamed', category: 'moved' })
  await s.sell(products[4] as Product, false)
  await s.forget(products[5] as Product)
  const added = await s.product(0, MERCHANT)
  await s.describe(added, { name: 'Added', category: 'data' })
  await s.follow()
  return added
}

describe('a restart', () => {
  it('reads the snapshot instead of the products, finds what has changed since, and not what has left', async () => {
    await keep()
    const added = await changeSome()
    // Nobody is told of this: only who reads all products sees it.
    await sql`UPDATE market.products SET name = 'Unannounced' WHERE chain_id = ${chainId} AND product_id = ${bytes32(products[9]?.number ?? -1)}`
    const replica = await start()
    expect(isRestored(replica)).toBe(true)
    expect(await found(replica, 'unannounced')).toEqual([])
    expect(await found(replica, 'number9')).toEqual([keyOfProduct(products[9])])
    expect(await found(replica, 'renamed')).toEqual([keyOfProduct(products[3])])
    expect(await found(replica, 'added')).toEqual([keyOfProduct(added)])
    for (const left of ['number3', 'number4', 'number5']) expect(await found(replica, left)).toEqual([])
    await s.describe(products[7] as Product, { name: 'Later', category: 'data' })
    await s.follow()
    await until(async () => (await found(replica, 'later'))?.length === 1, 'a change after the restart')
    expect(await found(replica, 'number7')).toEqual([])
  })

  it('answers as one that loads all products', async () => {
    await sql`INSERT INTO market.embedders (embedder_id, dims, ready_at) VALUES (${MODEL}, 4, now())`
    const embed = async (count: number, shift: number) => {
      for (const [n, { number }] of products.slice(0, count).entries()) {
        const vector = Buffer.from(Int8Array.from([n, 40 - n, shift, 7 * n]))
        await sql.begin(async (tx) => {
          await tx`
            INSERT INTO market.product_vectors VALUES (${MODEL}, ${chainId}, ${MERCHANT}, ${bytes32(number)}, '', ${vector})
            ON CONFLICT (embedder_id, chain_id, merchant_id, product_id) DO UPDATE SET vector = excluded.vector`
          await tx`
            UPDATE market.listings SET changed_in = pg_current_xact_id()
            WHERE chain_id = ${chainId} AND product_id = ${bytes32(number)}`
        })
      }
    }
    await embed(30, 1)
    await keep(ENDPOINT)
    await embed(4, 90)
    await changeSome()
    const restored = await start(ENDPOINT, Number.POSITIVE_INFINITY)
    await sql`DELETE FROM market.index_snapshots`
    const loaded = await start(ENDPOINT, Number.POSITIVE_INFINITY)
    expect([isRestored(restored), isRestored(loaded)]).toEqual([true, false])
    const answers = (replica: Replica) =>
      Promise.all(
        [...WORDS, 'wether tidse', 'renamed', ''].flatMap((intent, n) => [
          hitsOf(replica, intent),
          hitsOf(replica, intent, { category: n % 2 === 0 ? 'data' : 'moved' }),
          hitsOf(replica, intent, { vector: Int8Array.from([9 * n, 20, 90 - n, 3]) }),
        ]),
      )
    const expected = await answers(loaded)
    expect(expected.flat().length).toBeGreaterThan(200)
    expect(await answers(restored)).toEqual(expected)
  })

  it('loads the products if many have changed since', async () => {
    await keep()
    for (const product of products.slice(0, PRODUCTS / 4))
      await s.describe(product, { name: 'Renamed', category: 'data' })
    await s.follow()
    const replica = await start()
    expect(isRestored(replica)).toBe(false)
    expect(await found(replica, 'renamed')).toHaveLength(PRODUCTS / 4)
  })

  const head = (set: (tx: Sql) => ReturnType<Sql>) => () =>
    sql`UPDATE market.index_snapshots SET ${set(sql)} WHERE chain_id = ${chainId}`
  const unfit: Record<string, () => PromiseLike<unknown>> = {
    'is of another server': head((tx) => tx`server = '7' || server`),
    'has another format': head((tx) => tx`format = '7' || format`),
    'has other vectors': head((tx) => tx`model = '7' || model`),
    'has lost its last part': () => sql`
      DELETE FROM market.index_snapshot_parts AS p USING market.index_snapshots AS i
      WHERE p.snapshot_id = i.snapshot_id AND chain_id = ${chainId} AND part = parts - 1`,
    'says that it has fewer parts': head((tx) => tx`parts = parts - 1`),
    'says that it has more parts': head((tx) => tx`parts = parts + 1`),
    'has a bit that is not as it was': () => sql`
      UPDATE market.index_snapshot_parts AS p SET bytes = set_bit(bytes, 4321, 1 - get_bit(bytes, 4321))
      FROM market.index_snapshots AS i WHERE p.snapshot_id = i.snapshot_id AND chain_id = ${chainId} AND part = 0`,
    'has bytes that mean nothing, with the right checksum': () => sql`
      UPDATE market.index_snapshot_parts AS p SET bytes = '\\x00', checksum = 3523407757
      FROM market.index_snapshots AS i WHERE p.snapshot_id = i.snapshot_id AND chain_id = ${chainId} AND part = 0`,
  }
  it.each(Object.entries(unfit))('loads the products if the snapshot %s', async (_, spoil) => {
    await keep()
    await spoil()
    const replica = await start()
    expect(isRestored(replica)).toBe(false)
    expect(await found(replica, 'number7')).toEqual([keyOfProduct(products[7])])
  })

  it('loads the products, and keeps a snapshot again, if the one that is there cannot be read', async () => {
    const damaged = await keep()
    await unfit['has lost its last part']?.()
    await start()
    await written((id) => id !== damaged)
    await stopAll()
    expect(isRestored(await start())).toBe(true)
  })

  it('loads the products if their listings were emptied and restored', async () => {
    await keep()
    await sql.begin(async (tx) => {
      await tx`CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT * FROM market.listings WHERE product_id <> ${bytes32(products[7]?.number ?? -1)}`
      await tx`TRUNCATE market.listings`
      await tx`INSERT INTO market.listings SELECT * FROM kept`
    })
    const replica = await start()
    expect(isRestored(replica)).toBe(false)
    expect(await found(replica, 'number7')).toEqual([])
  })

  it('loads the products if another model serves, or its vectors are grouped otherwise', async () => {
    await keep()
    await sql`INSERT INTO market.embedders (embedder_id, dims, ready_at) VALUES (${MODEL}, 4, now())`
    expect(isRestored(await start(ENDPOINT, Number.POSITIVE_INFINITY))).toBe(false)
    await stopAll()
    await sql`TRUNCATE market.index_snapshots, market.index_snapshot_parts`
    await keep(ENDPOINT)
    expect(isRestored(await start(ENDPOINT))).toBe(true)
    await stopAll()
    const points = Buffer.from([0, 0, 0, 4, 0, 0, 0, 1, 1, 2, 3, 4])
    await sql`INSERT INTO market.vector_cells (chain_id, embedder_id, vectors, points) VALUES (${chainId}, ${MODEL}, 1, ${points})`
    expect(isRestored(await start(ENDPOINT))).toBe(false)
  })

  it('loads the products, and answers, where snapshots can be neither read nor written', async () => {
    await sql`ALTER TABLE market.index_snapshots RENAME TO elsewhere`
    try {
      const replica = await start()
      expect(await found(replica, 'number7')).toEqual([keyOfProduct(products[7])])
      await s.describe(products[7] as Product, { name: 'Later', category: 'data' })
      await s.follow()
      await until(async () => (await found(replica, 'later'))?.length === 1, 'a change')
      expect(isRestored(replica)).toBe(false)
    } finally {
      await stopAll()
      await sql`ALTER TABLE market.elsewhere RENAME TO index_snapshots`
    }
  })
})

describe('a snapshot', () => {
  /** Waits for two polls: after the first one the replica has looked whether a snapshot is due. */
  async function polls(replica: Replica): Promise<void> {
    for (const nth of ['first', 'second']) {
      const name = `seen ${nth} by ${replicas.indexOf(replica)}`
      await s.describe(products.at(-1) as Product, { name, category: 'data' })
      await s.follow()
      await until(async () => `${await found(replica, name)}`.startsWith(keyOfProduct(products.at(-1))), name)
    }
  }

  it('is written once, by one of several replicas', async () => {
    await Promise.all([start(), start(), start()])
    const { snapshot_id, parts: count } = await written()
    await start()
    for (const replica of replicas) await polls(replica)
    expect(await heads()).toEqual([{ snapshot_id, parts: count }])
    expect(await sql`SELECT ${parts()}`).toHaveLength(count)
  })

  it('is not written of few products', async () => {
    await polls(await start(OFF, PRODUCTS + 1))
    expect(await heads()).toEqual([])
  })

  it('is written again when a tenth has changed, if it is not new', async () => {
    const first = await keep()
    for (const product of products.slice(0, PRODUCTS / 10))
      await s.describe(product, { name: 'Renamed', category: 'data' })
    await s.follow()
    await polls(await start())
    expect(await heads()).toMatchObject([{ snapshot_id: first }])
    await stopAll()
    const age = () =>
      sql`UPDATE market.index_snapshots SET written_at = now() - interval '11 minutes' WHERE chain_id = ${chainId}`
    await age()
    await start()
    const { snapshot_id: second } = await written((id) => id !== first)
    await stopAll()
    await age()
    await polls(await start())
    expect(await heads()).toMatchObject([{ snapshot_id: second }])
  })
})
