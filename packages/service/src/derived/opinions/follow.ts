// Keeps the opinions of buyers, one for each owner and product, and the ranks of products and merchants that are
// computed from them.
import type { Batch, Change, Follower } from '../following/following.ts'
import { findChanges, type OpinionChange, reviewsToReconsider, writeChanges } from './store.ts'
import {
  addToAll,
  beginDay,
  noDelta,
  type ProductDelta,
  productsOfEarlierDays,
  rankMerchants,
  rankProducts,
} from './totals.ts'

const PRODUCTS_AT_ONCE = 500

export const opinionsFollower: Follower = { follow, refresh }

async function follow({ tx, chain, changes, now }: Batch): Promise<void> {
  const { chainId } = chain.config
  const today = await beginDay(tx, chainId, now)
  const flags = changes.flatMap((change) => (change.what === 'flag' ? [change.agentId] : []))
  const reviews = changes.flatMap((change) => (change.what === 'review' ? [change.internalId] : []))
  const opinionChanges = await findChanges(tx, chainId, [
    ...new Set([...reviews, ...(await reviewsToReconsider(tx, chainId, flags))]),
  ])
  await writeChanges(tx, chainId, opinionChanges)
  const deltas = deltasOf(changes, opinionChanges)
  await addToAll(tx, chainId, deltas)
  const merchants = await rankProducts(tx, chainId, today, deltas)
  const entered = changes.flatMap((change) => (change.what === 'merchant' ? [change.merchantId] : []))
  await rankMerchants(tx, chainId, [...merchants, ...entered])
}

async function refresh({ tx, chain, now }: Omit<Batch, 'changes'>): Promise<boolean> {
  const { chainId } = chain.config
  const today = await beginDay(tx, chainId, now)
  const products = await productsOfEarlierDays(tx, chainId, today, PRODUCTS_AT_ONCE)
  await rankMerchants(tx, chainId, await rankProducts(tx, chainId, today, products))
  return products.length > 0
}

/** The products to update, each once, with the changes of their opinions added up. */
function deltasOf(changes: readonly Change[], opinionChanges: readonly OpinionChange[]): ProductDelta[] {
  const products = new Map<string, ProductDelta>()
  const productOf = ({
    merchantId,
    productId,
  }: Pick<ProductDelta, 'merchantId' | 'productId'>): ProductDelta => {
    const name = `${merchantId}/${productId.toString('hex')}`
    const product = products.get(name) ?? noDelta(merchantId, productId)
    products.set(name, product)
    return product
  }
  for (const change of changes) if (change.what === 'product' || change.what === 'purchase') productOf(change)
  for (const change of opinionChanges) {
    const product = productOf(change)
    product.opinions += countOf(change.after) - countOf(change.before)
    product.weight += weightOf(change.after) - weightOf(change.before)
    product.weighted += weightedOf(change.after) - weightedOf(change.before)
  }
  return [...products.values()]
}

type Counted = OpinionChange['before']

const countOf = (opinion: Counted) => (opinion ? 1 : 0)
const weightOf = (opinion: Counted) => BigInt(opinion?.weight ?? 0)
const weightedOf = (opinion: Counted) => weightOf(opinion) * BigInt(opinion?.satisfaction ?? 0)
