// Links are made with what shows them, and anew when they were made of something that is no longer so.

import type { Transaction } from '@referrer/database'
import type { Chain, Context } from '../../kit/context.ts'
import type { ProductKey } from '../../kit/keys.ts'
import { despiteDeadlock } from '../../machinery/db/deadlock.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import {
  findToLink,
  findUnlinkedProducts,
  holdEndpoint,
  holdPublished,
  markLinked,
  writeTokens,
} from './store.ts'
import { type Signing, signerOf, tokenKeyOf, tokenOf } from './token.ts'

/** A batch holds locks and memory while it is signed. */
const REVIEWS_AT_ONCE = 200
const PRODUCTS_AT_ONCE = 100
const NEWEST = 2n ** 62n

interface Batch {
  endpoint: string | null
  /** Where the next batch goes on; undefined: that was the last. */
  below: bigint | undefined
}

/**
 * To be called in the transaction in which reviews come to the chain: those whose text is known already are shown from its end on, with
 * their links. One that comes back after a reorganisation may have another id than its link names.
 */
export async function linkPublished(
  tx: Transaction,
  context: Pick<Context, 'clock'>,
  chain: Signing,
  internalIds: readonly bigint[],
): Promise<void> {
  if (internalIds.length === 0) return
  const reviews = await holdPublished(tx, internalIds)
  const outdated = reviews.filter(
    ({ ref_key, ref_review_id, review_id, endpoint_url }) =>
      ref_key !== tokenKeyOf(chain, endpoint_url) || ref_review_id !== review_id,
  )
  const tokens = outdated.map((review) => tokenOf(context, chain, review.endpoint_url, review))
  await writeTokens(tx, await Promise.all(tokens))
}

/**
 * To be called when a product's endpoint has changed: makes the newest links at once. The schedule makes those that are left, or all when
 * this fails: the change itself has happened.
 */
export async function refreshRefTokens(context: Context, key: ProductKey): Promise<void> {
  const chain = context.chains.get(key.chainId)
  try {
    if (chain) await linkBatch(context, chain, key)
  } catch (err) {
    const { chainId, merchantId } = key
    context.log.warn({ err, chainId, merchantId }, 'ref links are made later')
  }
}

export const refreshLinks = (context: Context): Schedule => ({
  name: 'refresh-ref-links',
  everySeconds: 5,
  async run({ signal }) {
    for (const [chainId, chain] of context.chains) {
      for (;;) {
        const products = await findUnlinkedProducts(context.sql, chainId, signerOf(chain), PRODUCTS_AT_ONCE)
        for (const { merchant_id: merchantId, product_id: productId } of products) {
          await linkProduct(context, chain, { chainId, merchantId, productId }, signal)
        }
        if (products.length < PRODUCTS_AT_ONCE) break
      }
    }
  },
})

/** After a crash it begins again, and passes over what is done. */
async function linkProduct(
  context: Context,
  chain: Chain,
  key: ProductKey,
  signal: AbortSignal,
): Promise<void> {
  let before: Batch | undefined
  do {
    signal.throwIfAborted()
    before = await linkBatch(context, chain, key, before)
  } while (before.below !== undefined)
}

/** A product whose endpoint changed since the batch before begins again from its newest review. */
function linkBatch(context: Context, chain: Chain, key: ProductKey, before?: Batch): Promise<Batch> {
  return despiteDeadlock(() =>
    context.sql.begin(async (tx): Promise<Batch> => {
      const endpoint = await holdEndpoint(tx, key, 'all')
      const tokenKey = tokenKeyOf(chain, endpoint)
      const below = (before?.endpoint === endpoint && before.below) || NEWEST
      const reviews = await findToLink(tx, key, { tokenKey, below, limit: REVIEWS_AT_ONCE })
      const tokens = reviews.map((review) => tokenOf(context, chain, endpoint, review))
      await writeTokens(tx, await Promise.all(tokens))
      if (reviews.length === REVIEWS_AT_ONCE) return { endpoint, below: reviews.at(-1)?.internal_id }
      await markLinked(tx, key, endpoint, signerOf(chain))
      return { endpoint, below: undefined }
    }),
  )
}
