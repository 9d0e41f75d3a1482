import type { Sql } from '@referrer/database'
import { lockFollowing } from '../../derived/following/following.ts'
import { makeListings } from '../../derived/listings/make.ts'
import { lookAtSearches } from '../../derived/listings/searches-store.ts'
import { announceListings } from '../../derived/listings/store.ts'
import type { ProductOfChain } from '../../kit/keys.ts'

const AT_ONCE = 500
/** All reviews of a product are looked at. */
const WINDOW = 2 ** 31 - 1

/** Makes the listings of all products of a chain anew: page by page, each in a transaction of its own. Returns how many products there are. */
export async function rebuildListings(
  sql: Sql,
  chainId: number,
  now: Date,
  progress: (count: number) => void = () => {},
): Promise<number> {
  await rebuildSearches(sql, chainId)
  let after: ProductOfChain = { merchantId: -1n, productId: Buffer.alloc(0) }
  let count = 0
  for (;;) {
    const page = await sql.begin(async (tx) => {
      await lockFollowing(tx, chainId)
      const products = await tx<ProductOfChain[]>`
        SELECT merchant_id AS "merchantId", product_id AS "productId" FROM market.products
        WHERE chain_id = ${chainId} AND (merchant_id, product_id) > (${after.merchantId}, ${after.productId}::bytea)
        ORDER BY merchant_id, product_id LIMIT ${AT_ONCE}`
      await makeListings(tx, chainId, products, { now, announced: [], window: WINDOW }, () => true)
      // The followers then look at texts and offers.
      await announceListings(tx, chainId, products)
      return products
    })
    const last = page.at(-1)
    if (last === undefined) return count
    after = last
    count += page.length
    progress(count)
  }
}

/** Looks again at all reviews that may say what their buyer searched for. */
async function rebuildSearches(sql: Sql, chainId: number): Promise<void> {
  let after: bigint | undefined = 0n
  while (after !== undefined) {
    const from: bigint = after
    after = await sql.begin(async (tx) => {
      await lockFollowing(tx, chainId)
      const reviews = await tx<{ internal_id: bigint }[]>`
        SELECT internal_id FROM market.reviews
        WHERE chain_id = ${chainId} AND content IS NOT NULL AND internal_id > ${from} ORDER BY internal_id LIMIT ${AT_ONCE}`
      const ids = reviews.map(({ internal_id }) => internal_id)
      await lookAtSearches(tx, chainId, ids)
      return ids.at(-1)
    })
  }
}
