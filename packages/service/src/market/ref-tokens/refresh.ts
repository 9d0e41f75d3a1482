// Creates the tokens of ref links when reviews become visible, and replaces them when their endpoint, signing key or router changed.

import type { Transaction } from '@referrer/database'
import { SignerError } from '@referrer/process'
import type { Chain, Context } from '../../kit/context.ts'
import type { ProductKey } from '../../kit/keys.ts'
import { despiteDeadlock } from '../../machinery/db/deadlock.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import {
  findToLink,
  findUnlinkedProducts,
  type LinkedReview,
  lockEndpoint,
  lockPublished,
  markLinked,
  markUnlinked,
  type Token,
  writeTokens,
} from './store.ts'
import { lockFor, type Signing, signerOf, signsHere, tokenKeyOf, tokenOf } from './token.ts'

/** Batch size; a batch holds row locks and memory while its tokens are signed. */
const REVIEWS_AT_ONCE = 200
const PRODUCTS_AT_ONCE = 100
const NEWEST = 2n ** 62n

interface Batch {
  endpoint: string | null
  /** Cursor for the next batch; undefined after the last one. */
  below: bigint | undefined
}

/**
 * Creates the tokens of newly indexed reviews whose text is known already. It runs in the transaction that indexes them, because they are
 * shown as soon as it commits. A review that returns after a reorganisation may need a new token, because its id may have changed.
 */
export async function linkPublished(
  tx: Transaction,
  context: Pick<Context, 'clock'>,
  chain: Signing,
  internalIds: readonly bigint[],
): Promise<void> {
  if (internalIds.length === 0) return
  const reviews = await lockPublished(tx, internalIds, lockFor(chain))
  const outdated = reviews.filter(
    ({ ref_key, ref_review_id, review_id, endpoint_url }) =>
      ref_key !== tokenKeyOf(chain, endpoint_url) || ref_review_id !== review_id,
  )
  await writeOrLeave(tx, chain, outdated, (review) => tokenOf(context, chain, review.endpoint_url, review))
}

/**
 * Writes the tokens of reviews. If they cannot be signed here or now, all are left to the schedule of a process that signs: what the
 * caller does must not wait for a signer. Returns the tokens; undefined when they are left.
 */
export async function writeOrLeave<T extends LinkedReview>(
  tx: Transaction,
  chain: Signing,
  reviews: readonly T[],
  make: (review: T) => Promise<Token>,
): Promise<Token[] | undefined> {
  try {
    const tokens = await Promise.all(reviews.map(make))
    await writeTokens(tx, tokens)
    return tokens
  } catch (error) {
    if (!(error instanceof SignerError)) throw error
    await markUnlinked(tx, chain.config.chainId, reviews)
    return undefined
  }
}

/**
 * Replaces the newest tokens of a product at once after its endpoint changed. The schedule replaces the remaining ones, or all when this
 * fails; a failure is only logged, because the change of the endpoint is committed.
 */
export async function refreshRefTokens(context: Context, key: ProductKey): Promise<void> {
  const chain = context.chains.get(key.chainId)
  try {
    if (chain && signsHere(chain)) await linkBatch(context, chain, key)
  } catch (err) {
    const { chainId, merchantId } = key
    context.log.warn(
      { err, chainId, merchantId },
      'ref links could not be refreshed now; the schedule retries',
    )
  }
}

export const refreshLinks = (context: Context): Schedule => ({
  name: 'refresh-ref-links',
  // Callers whose process does not sign wait for it.
  everySeconds: 1,
  async run({ signal }) {
    for (const [chainId, chain] of context.chains) {
      if (!signsHere(chain)) continue
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

/** Replaces all outdated tokens of a product. After a crash it starts again and skips the replaced ones. */
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

/** Replaces one batch of tokens. When the endpoint changed since the previous batch, it starts again from the newest review. */
function linkBatch(context: Context, chain: Chain, key: ProductKey, before?: Batch): Promise<Batch> {
  return despiteDeadlock(() =>
    context.sql.begin(async (tx): Promise<Batch> => {
      const endpoint = await lockEndpoint(tx, key, 'all')
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
