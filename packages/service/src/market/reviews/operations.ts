import { createTurns } from '@referrer/net'
import { createLoader } from '@referrer/process'
// What one can read of reviews. The answers are JSON, ready to be sent: whoever asks the same at the same moment shares it.
import type { Hex } from 'viem'
import { coalesce } from '../../kit/coalesce.ts'
import { type Context, once } from '../../kit/context.ts'
import { refused } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { reviewMemory } from './answers.ts'
import { reviewJson, reviewsJson } from './json.ts'
import { findReviewRecords, findReviews, listReviews, reviewsOfProduct, type Texts } from './store.ts'

interface ListKey {
  chainId: number
  page: number
  limit: number
  texts: Texts
}

interface ProductKey {
  chainId: number
  merchantId: bigint
  productId: Hex
  texts: Texts
}

/** Those that are published, newest record first. */
export const listPublished = (context: Context, key: ListKey): Promise<Buffer> => lists(context)(key)

const lists = once((context) => {
  const inTurns = createTurns(READ_AT_ONCE)
  return coalesce(nameOfList, (key: ListKey) => inTurns(() => readList(context, key)))
})

/** A page of long reviews takes a hundred megabytes while it is made. */
const READ_AT_ONCE = 4

async function readList(context: Context, key: ListKey): Promise<Buffer> {
  const { chainId, page, limit, texts } = key
  const { rows, total } = await listReviews(context.sql, chainId, { limit, offset: skippedBy(key), texts })
  const reviews = reviewsJson(context, rows)
  return Buffer.from(`{"reviews":${reviews},"total":${total},"page":${page},"limit":${limit}}`)
}

const skippedBy = ({ page, limit }: Pick<ListKey, 'page' | 'limit'>) => BigInt(page - 1) * BigInt(limit)
const nameOfList = ({ chainId, page, limit, texts }: ListKey) => `${chainId}/${page}/${limit}/${texts}`

/** Those of a product that are published, newest first. */
export const listOfProduct = (context: Context, key: ProductKey): Promise<Buffer> =>
  listsOfProducts(context)(key)

const listsOfProducts = once((context) =>
  coalesce<ProductKey, Buffer>(
    ({ chainId, merchantId, productId, texts }) => `${chainId}/${merchantId}/${productId}/${texts}`,
    async ({ chainId, merchantId, productId, texts }) => {
      const rows = await reviewsOfProduct(context.sql, chainId, merchantId, bytesOf(productId), texts)
      const reviews = reviewsJson(context, rows)
      return Buffer.from(`{"reviews":${reviews},"merchant_id":${merchantId},"product_id":"${productId}"}`)
    },
  ),
)

/** By the id that it has on the chain. */
export async function readReview(context: Context, chainId: number, reviewId: bigint): Promise<Buffer> {
  const memory = reviewMemory(context)
  const name = `${chainId}/${reviewId}`
  const known = memory.current()
  const answer = known.get(name)
  if (answer && (await memory.holds(known))) return answer
  const kept = memory.current()
  const { json, isPublished } = found(await reviews(context)({ chainId, reviewId }), reviewId)
  if (isPublished) kept.set(name, json)
  return json
}

const reviews = once((context) =>
  createLoader<{ chainId: number; reviewId: bigint }, { json: Buffer; isPublished: boolean } | undefined>({
    keyOf: ({ chainId, reviewId }) => `${chainId}/${reviewId}`,
    load: async (keys) => {
      const rows = await findReviews(context.sql, keys)
      const byKey = new Map(rows.map((row) => [`${row.chain_id}/${row.review_id}`, row]))
      return keys.map(({ chainId, reviewId }) => {
        const row = byKey.get(`${chainId}/${reviewId}`)
        if (!row) return undefined
        return { json: Buffer.from(reviewJson(context, row, 'alone')), isPublished: row.content !== null }
      })
    },
  }),
)

/** By the id of its record, whether it is on the chain or not; of that chain, or of any. */
export async function readReviewRecord(
  context: Context,
  internalId: bigint,
  chainId: number | undefined,
): Promise<Buffer> {
  const record = found(await records(context)(internalId), internalId)
  return found(chainId === undefined || record.chainId === chainId ? record.json : undefined, internalId)
}

const records = once((context) =>
  createLoader<bigint, { chainId: number; json: Buffer } | undefined>({
    keyOf: (internalId) => internalId,
    load: async (internalIds) => {
      const rows = await findReviewRecords(context.sql, internalIds)
      const byId = new Map(rows.map((row) => [row.internal_id, row]))
      return internalIds.map((internalId) => {
        const row = byId.get(internalId)
        return row && { chainId: Number(row.chain_id), json: Buffer.from(reviewJson(context, row, 'alone')) }
      })
    },
  }),
)

function found<T>(value: T | undefined, id: bigint): T {
  if (value === undefined) throw refused('not found', `review ${id} not found`)
  return value
}
