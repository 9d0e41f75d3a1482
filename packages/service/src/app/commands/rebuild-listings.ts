import type { Sql } from '@referrer/database'
import { lockFollowing } from '../../derived/following/following.ts'
import { makeListings } from '../../derived/listings/make.ts'
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
