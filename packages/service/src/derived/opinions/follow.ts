// What the buyers of a product think of it, one opinion for each owner, and the ranks of products and merchants that come of it.
import type { Batch, Follower, Mark } from '../following/following.ts'
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

async function follow({ tx, chain, marks, now }: Batch): Promise<void> {
  const { chainId } = chain.config
  const today = await beginDay(tx, chainId, now)
  const flags = marks.flatMap((mark) => (mark.what === 'flag' ? [mark.agentId] : []))
  const reviews = marks.flatMap((mark) => (mark.what === 'review' ? [mark.internalId] : []))
  const changes = await findChanges(tx, chainId, [
    ...new Set([...reviews, ...(await reviewsToReconsider(tx, chainId, flags))]),
  ])
  await writeChanges(tx, chainId, changes)
  const moved = movedBy(marks, changes)
  await addToAll(tx, chainId, moved)
  const merchants = await rankProducts(tx, chainId, today, moved)
  const entered = marks.flatMap((mark) => (mark.what === 'merchant' ? [mark.merchantId] : []))
  await rankMerchants(tx, chainId, [...merchants, ...entered])
}

async function refresh({ tx, chain, now }: Omit<Batch, 'marks'>): Promise<boolean> {
  const { chainId } = chain.config
  const today = await beginDay(tx, chainId, now)
  const products = await productsOfEarlierDays(tx, chainId, today, PRODUCTS_AT_ONCE)
  await rankMerchants(tx, chainId, await rankProducts(tx, chainId, today, products))
  return products.length > 0
}

/** The products to look at, each once, with what their opinions have changed by. */
function movedBy(marks: readonly Mark[], changes: readonly OpinionChange[]): Moved[] {
  const products = new Map<string, Moved>()
  const productOf = ({ merchantId, productId }: Pick<Moved, 'merchantId' | 'productId'>): Moved => {
    const name = `${merchantId}/${productId.toString('hex')}`
    const product = products.get(name) ?? unmoved(merchantId, productId)
    products.set(name, product)
    return product
  }
  for (const mark of marks) if (mark.what === 'product' || mark.what === 'purchase') productOf(mark)
  for (const change of changes) {
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
