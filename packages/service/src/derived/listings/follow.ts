import type { Context } from '../../kit/context.ts'
import type { ProductOfChain } from '../../kit/keys.ts'
import type { Batch, Change, Follower } from '../following/following.ts'
import { planOffers } from '../offers/plan.ts'
import { queueTexts } from '../texts/queue.ts'
import { makeListings, nameOf } from './make.ts'
import { judgeAgain, lookAtSearches } from './searches-store.ts'
import { productsOf, productsRestingOn } from './store.ts'

/** If more products than this depend on one merchant or agent, they are queued for later batches. */
const PRODUCTS_AT_ONCE = 300
/**
 * Of a product with more reviews, only the newest and those already on the shortlist are read, so that the cost has
 * an upper limit.
 */
const WINDOW = 2_000

/** Keeps the listings that discovery shows of products. */
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

  /** After new standings, what other buyers searched for may count. */
  async refresh({ tx, chain, now }) {
    const { chainId } = chain.config
    const products = await judgeAgain(tx, chainId, PRODUCTS_AT_ONCE)
    if (!products) return false
    await makeListings(tx, chainId, distinct(products), { now, announced: [], window: WINDOW }, () => false)
    return true
  },
})

const distinct = (products: readonly ProductOfChain[]): ProductOfChain[] => [
  ...new Map(products.map((product) => [nameOf(product), product])).values(),
]

/** Each product once. `touched` are products of which a field outside the listing itself has changed. */
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
  const bought = changes.filter((change) => change.what === 'purchase')
  const searched = await lookAtSearches(tx, chainId, reviews, bought)
  return {
    products: distinct([...named, ...reviewed, ...resting, ...searched]),
    touched: new Set(named.map(nameOf)),
  }
}
