import { createTurns } from '@referrer/net'
import { createLoader } from '@referrer/process'
// Reads of reviews. The answers are serialized JSON, which concurrent requests for the same data share.
import type { Hex } from 'viem'
import { coalesce } from '../../kit/coalesce.ts'
import { type Context, once } from '../../kit/context.ts'
import { refused } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { reviewCache } from './answers.ts'
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

/** One page of the published reviews, newest first. */
export const listPublished = (context: Context, key: ListKey): Promise<Buffer> => lists(context)(key)

const lists = once((context) => {
  const inTurns = createTurns(READ_AT_ONCE)
  return coalesce(nameOfList, (key: ListKey) => inTurns(() => readList(context, key)))
})

/** Limit for concurrent page reads, because building a page of long reviews takes up to 100 MB. */
const READ_AT_ONCE = 4

async function readList(context: Context, key: ListKey): Promise<Buffer> {
  const { chainId, page, limit, texts } = key
  const { rows, total } = await listReviews(context.sql, chainId, { limit, offset: skippedBy(key), texts })
  const reviews = reviewsJson(context, rows)
  return Buffer.from(`{"reviews":${reviews},"total":${total},"page":${page},"limit":${limit}}`)
}

const skippedBy = ({ page, limit }: Pick<ListKey, 'page' | 'limit'>) => BigInt(page - 1) * BigInt(limit)
const nameOfList = ({ chainId, page, limit, texts }: ListKey) => `${chainId}/${page}/${limit}/${texts}`

/** The published reviews of a product, newest first. */
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

/** A review by its id on the chain. */
export async function readReview(context: Context, chainId: number, reviewId: bigint): Promise<Buffer> {
  const cache = reviewCache(context)
  const name = `${chainId}/${reviewId}`
  const known = cache.current()
  const answer = known.get(name)
  if (answer && (await cache.holds(known))) return answer
  const kept = cache.current()
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

/** A review by its internal id, on the chain or not; undefined as `chainId` means any chain. */
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
