import { createHash } from 'node:crypto'
import { migrate, type PostgresServer, type Sql } from '@referrer/database'
import { migrations } from '@referrer/service'
import { withoutIndexes } from '@referrer/service/testing'
import { connectPatiently, createDatabase } from '../databases.ts'
import { CHAIN_ID } from '../http/market.ts'
import { Random } from '../index/random.ts'
import { type Item, intentFor } from './catalogue.ts'
import {
  fillVectors,
  listingRows,
  merchantOf,
  REVIEWS_EACH,
  recordRows,
  reviewRows,
  reviewTextRows,
  STAGE,
} from './rows.ts'
import { KINDS, Space } from './vectors.ts'

/** A question that somebody asks, with the answer of the model. */
export interface Intent {
  text: string
  vector: Int8Array
  category: string | undefined
  ceiling: number | undefined
}

export interface Market {
  databaseUrl: string
  sql: Sql
  products: number
  intents: Intent[]
}

export interface Goods {
  /** The name of the database. */
  name: string
  count: number
  items: Iterable<Item>
}

export interface Life {
  /** Whose vectors there are; undefined: nobody's. */
  embedderId?: string
  /** How many questions are asked about it. */
  intents: number
  /** False: the market has nothing but products, all on sale and ranked alike. */
  hasReviews: boolean
  /** For each product. */
  reviewsEach?: number
  /** Uses the database again if it has been filled before. */
  isKept?: boolean
}

/** Of ten questions one names a category, and one a price. */
const FILTERED_EVERY = 10
const CLOSED_EVERY = 50
const COPY_BYTES = 1_000_000

/** A market with these goods, each with reviews and vectors, and questions about some of them. */
export async function createMarket(
  server: Pick<PostgresServer, 'url'>,
  { name, count, items }: Goods,
  { embedderId, intents: wanted, hasReviews, reviewsEach = REVIEWS_EACH, isKept = false }: Life,
): Promise<Market> {
  const databaseUrl = await createDatabase(server, name, isKept)
  const sql = connectPatiently(databaseUrl, 8)
  await migrate(sql, migrations)
  const intents: Intent[] = []
  const every = Math.max(1, Math.floor(count / wanted))
  const rows = () => staged(items, { count, hasReviews, every, intents })
  // All rows were filled in by one transaction.
  if ((await sql`SELECT FROM market.listings LIMIT 1`).length > 0) {
    for (const _ of rows());
    await sql`UPDATE market.embedders SET used_at = now()`
    return { databaseUrl, sql, products: count, intents }
  }
  await sql.begin(async (tx) => {
    // Without triggers: what is filled in is not followed.
    await tx`SET LOCAL session_replication_role = replica`
    await withoutIndexes(tx, async () => {
      await tx.unsafe(STAGE)
      const stage = await tx.unsafe('COPY stage FROM STDIN').writable()
      await write(stage, rows())
      const texts = await tx.unsafe('COPY review_texts FROM STDIN').writable()
      await write(texts, reviewTextRows())
      const reviews = hasReviews ? reviewRows(CHAIN_ID, count, reviewsEach) : listingRows(CHAIN_ID)
      for (const statement of [...recordRows(CHAIN_ID, count), ...reviews]) await tx.unsafe(statement)
      if (embedderId !== undefined) await fillVectors(tx, CHAIN_ID, embedderId, reviewsEach)
      // Triggers would count them: word vectors are learned from so many on.
      await tx`
        INSERT INTO market.counts (chain_id, what, count)
        SELECT chain_id, 'open products', count(*) FROM market.listings WHERE is_open GROUP BY chain_id`
      await tx.unsafe('DROP TABLE stage, review_texts')
    })
  })
  await sql`VACUUM ANALYZE`
  // Dirty pages are written now, and not while somebody measures.
  await sql`CHECKPOINT`
  // After a long filling the model would look unused, and its vectors would be deleted.
  await sql`UPDATE market.embedders SET used_at = now()`
  return { databaseUrl, sql, products: count, intents }
}

type Staging = { count: number; hasReviews: boolean; every: number; intents: Intent[] }

/** A row for each item; somebody asks about one of every `every` items. */
function* staged(
  items: Iterable<Item>,
  { count, hasReviews, every, intents }: Staging,
): Generator<unknown[]> {
  const space = new Space()
  const themes = new Map<string, number>()
  let n = 0
  for (const item of items) {
    const theme = themes.get(item.category) ?? themes.size
    themes.set(item.category, theme)
    const kind = n % KINDS
    const random = new Random(n)
    if (n % every === 0) {
      const kindOfQuestion = intents.length % FILTERED_EVERY
      intents.push({
        text: intentFor(item, random),
        vector: space.near(theme, kind, -1 - n),
        category: kindOfQuestion === 1 ? item.category : undefined,
        ceiling: kindOfQuestion === 2 ? item.price : undefined,
      })
    }
    n += 1
    yield [
      n,
      merchantOf(n, count),
      bytes(createHash('sha256').update(`product ${n}`).digest()),
      theme,
      item.name,
      item.category,
      item.description,
      item.price,
      hasReviews ? random.below(1_001) / 1_000 : 0.5,
      !hasReviews || n % CLOSED_EVERY !== 0,
      bytes(space.near(theme, kind, n)),
    ]
  }
}

const bytes = ({ buffer, byteOffset, length }: Uint8Array | Int8Array) =>
  `\\x${Buffer.from(buffer, byteOffset, length).toString('hex')}`

type Copy = Awaited<ReturnType<ReturnType<Sql['unsafe']>['writable']>>

async function write(copy: Copy, rows: Iterable<unknown[]>): Promise<void> {
  let lines = ''
  const flush = () => new Promise<void>((resolve) => copy.write(lines, () => resolve()))
  for (const row of rows) {
    lines += `${row.map(field).join('\t')}\n`
    if (lines.length < COPY_BYTES) continue
    await flush()
    lines = ''
  }
  if (lines) await flush()
  await new Promise<void>((resolve, reject) => {
    copy.once('error', reject)
    copy.end(resolve)
  })
}

/** As COPY reads it. */
const field = (value: unknown): string =>
  value === undefined
    ? '\\N'
    : String(value).replaceAll(
        /[\\\t\n\r]/g,
        (character) => ({ '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' })[character] ?? '',
      )
