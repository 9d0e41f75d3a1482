// The table of learned word vectors.
import type { Queryable, Sql } from '@referrer/database'
import { lockQueue } from '../../derived/texts/queue.ts'
import { learnedId, WORDS_FORMAT } from './ids.ts'
import { addEmbedder } from './store.ts'

/** Word vectors are read in parts, so that no single one holds up requests. */
const PART_BYTES = 1 << 20
/** New word vectors are due when there are so many times as many products as at the last ones … */
const GROWTH = 2
/** … or after so long, if so large a share of the products has been described since. */
const OLD_DAYS = 30
const CHANGED_SHARE = 0.1

/** The newest learned word vectors. */
export interface Learned {
  number: bigint
  embedder: string
  products: number
  lessons: number
  ageSeconds: number
  tookSeconds: number
  isOutdated: boolean
}

export async function newestLearned(sql: Queryable): Promise<Learned | undefined> {
  const [row] = await sql<Learned[]>`
    SELECT number, embedder_id AS embedder, products::float8 AS products, lessons, is_outdated AS "isOutdated",
      greatest(0, extract(epoch FROM now() - learned_at))::float8 AS "ageSeconds", took_ms / 1000.0::float8 AS "tookSeconds"
    FROM market.word_vectors WHERE format = ${WORDS_FORMAT} ORDER BY number DESC LIMIT 1`
  return row
}

/** Whether new word vectors should be learned: undefined if not. */
export async function dueLesson(
  sql: Queryable,
  leastProducts: number,
): Promise<{ products: number; former: Learned | undefined } | undefined> {
  const former = await newestLearned(sql)
  const [open] = await sql<[{ products: number }]>`
    SELECT coalesce(sum(count), 0)::float8 AS products FROM market.counts WHERE what = 'open products'`
  const { products } = open
  if (products < leastProducts) return undefined
  const isDue =
    !former ||
    former.isOutdated ||
    products >= GROWTH * former.products ||
    (former.ageSeconds >= OLD_DAYS * 86_400 && (await haveManyChanged(sql, former)))
  return isDue ? { products, former } : undefined
}

/** The index by time of description is read no further than needed. */
async function haveManyChanged(sql: Queryable, { number, products }: Learned): Promise<boolean> {
  const many = Math.ceil(CHANGED_SHARE * products)
  const [row] = await sql<[{ count: number }]>`
    SELECT count(*)::integer AS count FROM (
      SELECT FROM market.products
      WHERE described_at > (SELECT learned_at FROM market.word_vectors WHERE number = ${number}) LIMIT ${many}) AS described`
  return row.count >= many
}

export interface NewWords {
  /** The newest word vectors when the lesson began. */
  former: bigint | undefined
  dims: number
  products: number
  lessons: number
  terms: number
  tookMs: number
  body: Buffer
}

/**
 * Stores word vectors and queues all texts for them, at once or not at all. Returns their id; undefined: another
 * replica was faster, and nothing is stored.
 */
export async function storeWords(sql: Sql, words: NewWords): Promise<string | undefined> {
  return sql.begin(async (tx) => {
    await tx`SELECT set_config('statement_timeout', '0', true)`
    await lockQueue(tx)
    if ((await newestLearned(tx))?.number !== words.former) return undefined
    const [next] = await tx<[{ number: bigint }]>`
      SELECT nextval(pg_get_serial_sequence('market.word_vectors', 'number')) AS number`
    const id = learnedId(next.number, words.dims)
    await addEmbedder(tx, { id, dims: words.dims })
    await tx`
      INSERT INTO market.word_vectors (number, embedder_id, format, products, lessons, terms, took_ms, body)
      VALUES (${next.number}, ${id}, ${WORDS_FORMAT}, ${words.products}, ${words.lessons}, ${words.terms},
        ${Math.round(words.tookMs)}, ${words.body})`
    return id
  })
}

/** The stored bytes of word vectors; undefined: they are not there. */
export async function readWords(sql: Queryable, embedderId: string): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  for (;;) {
    const [row] = await sql<{ part: Buffer }[]>`
      SELECT substring(body FROM ${parts.length * PART_BYTES + 1}::integer FOR ${PART_BYTES}::integer) AS part
      FROM market.word_vectors WHERE embedder_id = ${embedderId}`
    if (!row) return undefined
    parts.push(row.part)
    if (row.part.length < PART_BYTES) return Buffer.concat(parts)
  }
}

/** Asks for new word vectors; the schedule learns them at its next run. */
export async function outdateWords(sql: Queryable): Promise<void> {
  await sql`UPDATE market.word_vectors SET is_outdated = true WHERE NOT is_outdated`
}
