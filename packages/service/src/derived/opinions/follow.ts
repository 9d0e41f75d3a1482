// What the buyers of a product think of it, one opinion for each owner, and the ranks of products and merchants that come of it.
import type { Batch, Change, Follower } from '../following/following.ts'
import { findChanges, type OpinionChange, reviewsToReconsider, writeChanges } from './store.ts'
import {
  addToAll,
  beginDay,
  type Moved,
  productsOfEarlierDays,
  rankMerchants,
  rankProducts,
  unmoved,
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
  const moved = movedBy(changes, opinionChanges)
  await addToAll(tx, chainId, moved)
  const merchants = await rankProducts(tx, chainId, today, moved)
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

/** The products to look at, each once, with what their opinions have changed by. */
function movedBy(changes: readonly Change[], opinionChanges: readonly OpinionChange[]): Moved[] {
  const products = new Map<string, Moved>()
  const productOf = ({ merchantId, productId }: Pick<Moved, 'merchantId' | 'productId'>): Moved => {
    const name = `${merchantId}/${productId.toString('hex')}`
    const product = products.get(name) ?? unmoved(merchantId, productId)
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
