// Reads the texts that word vectors are learned from.

import { hash } from 'node:crypto'
import type { Queryable } from '@referrer/database'
import type { Lesson } from '@referrer/search'
import { WORDS_OF_OTHERS } from '../../derived/listings/store.ts'
import { fairShare } from './fair-share.ts'

const KEYS_AT_ONCE = 5_000
const TEXTS_AT_ONCE = 1_000
/** The beginning of a description says what the product is, and the memory for all lessons is limited. */
const MOST_CHARACTERS = 500
const MOST_NAME = 200
/** Evidence has at most 60 words, in the order of the alphabet. */
const MOST_EVIDENCE = 2_000

export interface LessonLimits {
  /** With fewer lessons, owners with many products teach more. */
  enough: number
  /** So many products are read at most. */
  all: number
}

interface Key {
  chain_id: number
  merchant_id: bigint
  product_id: Buffer
  owner: string
}

/**
 * The texts of open products: of a large market an even sample, and of one owner not more than a fair share. Chosen by
 * the hash of a product's key, so that the same market gives the same lessons.
 */
export async function readLessons(
  sql: Queryable,
  limits: LessonLimits,
  onRead: (lessons: number) => void = () => {},
): Promise<Lesson[]> {
  const sizes = new Map<string, number>()
  for await (const keys of openKeys(sql))
    for (const { owner } of keys) sizes.set(owner, (sizes.get(owner) ?? 0) + 1)
  const { most, kept } = fairShare(sizes.values(), limits)

  const taken = new Map<string, number>()
  const isChosen = (key: Key): boolean => {
    const size = sizes.get(key.owner) ?? 1
    const part = kept * Math.min(1, most / size)
    const already = taken.get(key.owner) ?? 0
    // The owner chooses the ids of products, and could choose those whose hashes are low: the count is limited, too.
    if (already >= Math.ceil(part * size) || placeOf(key) >= part) return false
    taken.set(key.owner, already + 1)
    return true
  }

  const lessons: Lesson[] = []
  for await (const keys of openKeys(sql)) {
    const chosen = keys.filter(isChosen)
    for (let at = 0; at < chosen.length; at += TEXTS_AT_ONCE)
      lessons.push(...(await textsOf(sql, chosen.slice(at, at + TEXTS_AT_ONCE))))
    if (lessons.length >= limits.all) return lessons.slice(0, limits.all)
    onRead(lessons.length)
  }
  return lessons
}

/** The keys of all open products with the merchants' owners, in pages. A merchant without an owner is one by itself. */
async function* openKeys(sql: Queryable): AsyncGenerator<Key[]> {
  let after: Omit<Key, 'owner'> = { chain_id: -1, merchant_id: -1n, product_id: Buffer.alloc(0) }
  for (;;) {
    const keys = await sql<Key[]>`
      SELECT l.chain_id::float8 AS chain_id, l.merchant_id, l.product_id,
        coalesce(encode(i.owner, 'hex'), concat_ws('/', l.chain_id, l.merchant_id)) AS owner
      FROM market.listings AS l LEFT JOIN chain.identities AS i ON (i.chain_id, i.agent_id) = (l.chain_id, l.merchant_id)
      WHERE l.is_open AND (l.chain_id, l.merchant_id, l.product_id)
        > (${after.chain_id}::bigint, ${after.merchant_id}::bigint, ${after.product_id}::bytea)
      ORDER BY l.chain_id, l.merchant_id, l.product_id LIMIT ${KEYS_AT_ONCE}`
    const last = keys.at(-1)
    if (!last) return
    yield keys
    after = last
  }
}

const textsOf = (sql: Queryable, keys: readonly Key[]) => sql<Lesson[]>`
  SELECT left(p.name, ${MOST_NAME}) AS name, left(p.category, ${MOST_NAME}) AS category,
    left(p.description, ${MOST_CHARACTERS}) AS description, left(${sql.unsafe(WORDS_OF_OTHERS)}, ${MOST_EVIDENCE}) AS evidence
  FROM unnest(
    ${keys.map(({ chain_id }) => BigInt(chain_id))}::bigint[], ${keys.map(({ merchant_id }) => merchant_id)}::bigint[],
    ${keys.map(({ product_id }) => product_id)}::bytea[]
  ) WITH ORDINALITY AS k (chain_id, merchant_id, product_id, at)
  JOIN market.products AS p USING (chain_id, merchant_id, product_id)
  JOIN market.listings AS l USING (chain_id, merchant_id, product_id) ORDER BY k.at`

/** Where the hash of a product's key lies, from 0 to 1. */
function placeOf({ chain_id, merchant_id, product_id }: Key): number {
  const bytes = hash('sha256', `${chain_id}/${merchant_id}/${product_id.toString('hex')}`, 'buffer')
  return bytes.readUInt32LE() / 2 ** 32
}
