// Resolving ref links.

import { createLoader } from '@referrer/process'
import { AttributionToken, ProtocolError } from '@referrer/protocol'
import { LRUCache } from 'lru-cache'
import type { Address, Hex } from 'viem'
import { type Context, once } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { findEndpoints, findShown, type LinkKey, type Shown } from './store.ts'

/** The data for buying through a ref link, in the order of the answer. */
export interface Link {
  merchant_endpoint: string
  token: string
  split_router: Address
  /** Null when no facilitator is configured. */
  facilitator_url: string | null
  chain_id: number
  merchant_id: number
  product_id: Hex
  review_id: number
  reviewer_agent_id: number
  cashback_of_commission_bps: number
}

/** Resolves a link that is signed with a valid key, also when its review has a newer link. The endpoint is the product's present one. */
export async function resolveLink(context: Context, token: string): Promise<Link> {
  const terms = await readToken(context, token)
  const { chainId, splitRouter } = terms
  const router = context.chains.get(chainId)?.config.contracts.SplitRouter.at(-1)
  // A token for a former router is useless, because the merchant asks for a payment to the present one.
  const endpoint = splitRouter === router && (await endpoints(context)({ token, key: keyOf(terms) }))
  if (!endpoint) throw notFound()
  return {
    merchant_endpoint: endpoint,
    token,
    split_router: splitRouter,
    facilitator_url: context.config.facilitatorUrl ?? null,
    chain_id: chainId,
    merchant_id: terms.merchantId,
    product_id: terms.productId,
    review_id: terms.reviewId,
    reviewer_agent_id: terms.reviewerAgentId,
    cashback_of_commission_bps: terms.cashbackOfCommissionBps,
  }
}

/** The data that a page shows about a resolved link. */
export async function describeLink({ sql }: Pick<Context, 'sql'>, link: Link): Promise<Shown> {
  const shown = await findShown(sql, {
    chainId: link.chain_id,
    merchantId: link.merchant_id,
    productId: bytesOf(link.product_id),
    reviewId: link.review_id,
  })
  if (!shown) throw notFound()
  return shown
}

const notFound = () =>
  new MarketError('not found', 'not found', {
    detail: 'the product or merchant has closed, or the link is too old: take a newer link of the review',
  })

const keyOf = (terms: AttributionToken.Payload): LinkKey => ({
  ...terms,
  productId: bytesOf(terms.productId),
})

const endpoints = once(({ sql }) =>
  createLoader<{ token: string; key: LinkKey }, string | undefined>({
    keyOf: ({ token }) => token,
    load: (questions) =>
      findEndpoints(
        sql,
        questions.map(({ key }) => key),
      ),
  }),
)

/** Cache of verified tokens, because verifying a signature takes longer than the rest. Only tokens that we signed enter it. */
const MOST_TOKENS = 10_000
const verified = once(() => new LRUCache<string, AttributionToken.Payload>({ max: MOST_TOKENS }))

async function readToken(context: Context, token: string): Promise<AttributionToken.Payload> {
  const known = verified(context)
  const before = known.get(token)
  if (before) return before
  const terms = await verify(context, token)
  known.set(token, terms)
  return terms
}

async function verify({ chains }: Context, token: string): Promise<AttributionToken.Payload> {
  try {
    const { chainId } = AttributionToken.decodeUnverified(token)
    const ring = chains.get(chainId)?.attestation?.ring
    if (ring) return await AttributionToken.verify(token, ring)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
  }
  throw new MarketError('invalid input', 'invalid token', {
    detail: 'it is not one of our links, or it was changed on the way: copy the whole link again',
  })
}
