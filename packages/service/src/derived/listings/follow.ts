import type { Context } from '../../kit/context.ts'
import type { ProductOfChain } from '../../kit/keys.ts'
import type { Batch, Change, Follower } from '../following/following.ts'
import { planOffers } from '../offers/plan.ts'
import { queueTexts } from '../texts/queue.ts'
import { makeListings, nameOf } from './make.ts'
import { productsOf, productsRestingOn } from './store.ts'

/** More products than this, resting on one merchant or agent, are left to later batches. */
const PRODUCTS_AT_ONCE = 300
/** Among more reviews than these, only the newest and those shown already are looked at: a product with a million costs no more. */
const WINDOW = 2_000

/** Keeps what discovery shows of products. */
export const listingsFollower = (context: Pick<Context, 'config'>): Follower => ({
  async follow(batch) {
    const { tx, chain, changes, now } = batch
    const { chainId } = chain.config
    const announced = changes.flatMap((change) => (change.what === 'review' ? change.internalId : []))
    const { products, touched } = await productsToLookAt(batch, announced)
    const look = { now, announced, window: WINDOW }
    const known = await makeListings(tx, chainId, products, look, (product) => touched.has(nameOf(product)))
    if (known.length === 0) return
    if (context.config.embedder) await queueTexts(tx, chainId, known)
    await planOffers(tx, chainId, known)
  },
})

/** Each once; `touched` are those of which something is new that is not in the listing itself. */
async function productsToLookAt(
  { tx, chain, changes }: Batch,
  reviews: readonly bigint[],
): Promise<{ products: ProductOfChain[]; touched: ReadonlySet<string> }> {
  const { chainId } = chain.config
  const named = changes.flatMap((change) =>
    change.what === 'product' || change.what === 'listing' ? change : [],
  )
  const ids = (what: Change['what']) =>
    changes.flatMap((change) =>
      change.what !== what
        ? []
        : 'agentId' in change
          ? change.agentId
          : 'merchantId' in change
            ? change.merchantId
            : [],
    )
  const reviewed = await productsOf(tx, chainId, reviews)
  const wide = { merchants: ids('merchant'), agents: ids('agent'), flags: ids('flag') }
  const resting = await productsRestingOn(tx, chainId, wide, PRODUCTS_AT_ONCE)
  const all: ProductOfChain[] = [...named, ...reviewed, ...resting]
  return {
    products: [...new Map(all.map((product) => [nameOf(product), product])).values()],
    touched: new Set(named.map(nameOf)),
  }
}
