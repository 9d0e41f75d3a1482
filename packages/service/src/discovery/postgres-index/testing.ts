import type { Sql } from '@referrer/database'
import { connect, migrate } from '@referrer/database'
import { freshDatabase } from '@referrer/database/testing'
import { Secret } from '@referrer/process'
import { keyOf, type Product, type Vector } from '@referrer/search'
import { testConfig, testContext } from '../../doors/http/testing.ts'
import type { Context } from '../../kit/context.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { asIndexer } from '../../testing/records.ts'

export interface VectorDatabase {
  /** A single connection: PGlite has no more. */
  sql: Sql
  close(): Promise<void>
}

/** Uses the test run's server if it has pgvector, else Postgres in WebAssembly (PGlite). */
export async function openVectorDatabase(): Promise<VectorDatabase> {
  const database = await freshDatabase(migrations)
  const [extension] = await database.sql`SELECT FROM pg_available_extensions WHERE name = 'vector'`
  if (extension) {
    const sql = connect(database.url, { max: 1, name: 'referrer tests' })
    const close = async () => {
      await sql.end({ timeout: 1 })
      await database.drop()
    }
    return { sql, close }
  }
  await database.drop()
  const [{ PGlite }, { pg_trgm }, { vector }, { PGLiteSocketServer }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
    import('@electric-sql/pglite-pgvector'),
    import('@electric-sql/pglite-socket'),
  ])
  const lite = await PGlite.create({ extensions: { vector, pg_trgm } })
  const server = new PGLiteSocketServer({ db: lite, port: 0, maxConnections: 2 })
  await server.start()
  const sql = connect(`postgres://postgres@${server.getServerConn()}/postgres`, {
    max: 1,
    name: 'referrer tests',
  })
  await migrate(sql, migrations)
  return {
    sql,
    async close() {
      await sql.end({ timeout: 1 })
      await server.stop()
      await lite.close()
    },
  }
}

export type Listed = Partial<Omit<Product, 'key' | 'vector'>> & { vector?: Vector }

const productIdOf = (number: number) => Buffer.from(number.toString(16).padStart(64, '0'), 'hex')
export const keyOfListed = (number: number) => keyOf(1n, productIdOf(number))

/** Lists products of merchant 1, named by their numbers, as the listings follower does, with vectors of a model. */
export async function list(
  sql: Sql,
  chainId: number,
  embedderId: string,
  products: ReadonlyMap<number, Listed>,
): Promise<void> {
  const given = [...products]
  const ids = given.map(([number]) => productIdOf(number))
  const texts = (field: 'name' | 'category' | 'description' | 'evidence') =>
    given.map(([, product]) => product[field] ?? '')
  const vectors = given.flatMap(([number, { vector }]) =>
    vector ? [{ id: productIdOf(number), vector }] : [],
  )
  await asIndexer(sql, async (tx) => {
    await tx`
      INSERT INTO chain.products (chain_id, merchant_id, product_id, commission_bps, min_price, product_type, card_uri, active, listed_at)
      SELECT ${chainId}, 1, id, 500, least, 0, '', true, now()
      FROM unnest(${ids}::bytea[], ${given.map(([, { leastPrice = 0 }]) => BigInt(leastPrice))}::bigint[]) AS k (id, least)
      ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET min_price = excluded.min_price`
    await tx`
      INSERT INTO market.products (chain_id, merchant_id, product_id, name, category, description, endpoint_url, rank)
      SELECT ${chainId}, 1, id, name, category, description, 'https://shop.example/', rank
      FROM unnest(${ids}::bytea[], ${texts('name')}::text[], ${texts('category')}::text[], ${texts('description')}::text[],
        ${given.map(([, { rank = 0.5 }]) => rank)}::float8[]) AS k (id, name, category, description, rank)
      ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE
        SET name = excluded.name, category = excluded.category, description = excluded.description, rank = excluded.rank`
    await tx`
      INSERT INTO market.offers (chain_id, merchant_id, product_id, endpoint_url, price)
      SELECT ${chainId}, 1, id, 'https://shop.example/', price
      FROM unnest(${ids}::bytea[], ${given.map(([, { price }]) => (price === undefined ? null : BigInt(price)))}::bigint[]) AS k (id, price)
      ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET price = excluded.price`
    await tx`
      INSERT INTO market.product_vectors (embedder_id, chain_id, merchant_id, product_id, text_hash, vector)
      SELECT ${embedderId}, ${chainId}, 1, id, '', vector
      FROM unnest(${vectors.map(({ id }) => id)}::bytea[], ${vectors.map(({ vector }) => Buffer.from(vector))}::bytea[]) AS k (id, vector)
      ON CONFLICT (embedder_id, chain_id, merchant_id, product_id) DO UPDATE SET vector = excluded.vector`
    await tx`
      INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
      SELECT ${chainId}, 1, id, true, 0, '{}', evidence FROM unnest(${ids}::bytea[], ${texts('evidence')}::text[]) AS k (id, evidence)
      ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE
        SET is_open = true, evidence = excluded.evidence, changed_in = pg_current_xact_id()`
  })
}

export async function closeListing(sql: Sql, chainId: number, number: number): Promise<void> {
  await sql`
    UPDATE market.listings SET is_open = false, changed_in = pg_current_xact_id()
    WHERE chain_id = ${chainId} AND product_id = ${productIdOf(number)}`
}

export async function useModel(sql: Sql, embedderId: string, dims: number): Promise<void> {
  await sql`INSERT INTO market.embedders (embedder_id, dims, ready_at) VALUES (${embedderId}, ${dims}, clock_timestamp())`
}

export function contextOn(sql: Sql, url = ''): Context {
  const config = testConfig({
    DISCOVERY_INDEX: 'postgres',
    EMBEDDER: 'endpoint',
    EMBEDDINGS_URL: 'http://127.0.0.1:9/v1',
    EMBEDDINGS_MODEL: 'test',
    EMBEDDINGS_DIMENSIONS: '8',
  })
  const chains = new Map([[1, {}]]) as unknown as Context['chains']
  return testContext(sql, { config, databaseUrl: new Secret(url), chains }).context
}
