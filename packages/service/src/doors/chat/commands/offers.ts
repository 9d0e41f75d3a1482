// What a chat is offered: products with a price and a review to buy through.
import { AttributionToken, ProtocolError, RefLink } from '@referrer/protocol'
import type { Address } from 'viem'
import { discover } from '../../../discovery/answers/operations.ts'
import type { Message } from '../../../kit/channel.ts'
import type { Chain, Context } from '../../../kit/context.ts'
import { MarketError } from '../../../kit/market-error.ts'
import { oneLine } from '../../../kit/one-line.ts'
import type { NewDraft } from '../../../market/intents/drafts.ts'
import { describeLink, resolveLink } from '../../../market/links/operations.ts'
import { ownedAmong } from './agents.ts'

const MOST_OFFERS = 5
/** So many are searched, because some have no price or no link yet. */
const SEARCHED = 15
const NAME_LENGTH = 80
const LINE_LENGTH = 120

/** The wallets of a chat. Nobody can buy through a review of their own. */
export type Wallets = readonly Address[]

export interface Offer extends NewDraft {
  rank: number
  /** A line of the review. */
  line: string
}

/** The product behind a ref link, or what is wrong with the link. */
export async function offerThrough(
  context: Context,
  words: string,
  wallets: Wallets,
): Promise<NewDraft | Message> {
  try {
    const { token } = RefLink.parse(words)
    const link = await resolveLink(context, token)
    const own = await ownedAmong(context, link.chain_id, [link.reviewer_agent_id], wallets)
    if (own.size > 0) {
      return {
        text: 'This is the link of a review by one of your own agents, through which you cannot buy. Take the link of another review, or search with /buy and a few words.',
      }
    }
    const { name, price } = await describeLink(context, link)
    if (price === null) return { text: 'The price of this product is not known yet. Try again in a minute.' }
    const refLink = RefLink.serialize({ baseUrl: context.config.publicUrl, token })
    return { chainId: link.chain_id, refLink, title: oneLine(name, NAME_LENGTH), price }
  } catch (error) {
    if (error instanceof ProtocolError || (error instanceof MarketError && error.kind !== 'unavailable')) {
      return {
        text: 'I cannot buy through this link: it is not one of ours, or the product is closed. Copy the link of the review again, or search with /buy and a few words.',
      }
    }
    throw error
  }
}

/** What is read here of an answer of discovery. */
interface Found {
  products: {
    name: string
    price_usdc?: number
    sub_scores: { product_rank: number }
    reviews: { slot: string; ref_link: string; content_json: { description?: unknown } }[] | null
  }[]
}

/** The best products for these words, each with its best review; or why there is none. */
export async function searchOffers(
  context: Context,
  chain: Chain,
  words: string,
  wallets: Wallets,
): Promise<Offer[] | Message> {
  const { chainId } = chain.config
  const found = await discover(context, chain, {
    intent: words,
    category: undefined,
    ceiling: undefined,
    most: SEARCHED,
    includeAll: false,
    isBrief: false,
  })
  const products = (JSON.parse(found) as Found).products.map(({ reviews, ...product }) => ({
    ...product,
    reviews: (reviews ?? [])
      .filter(({ slot, ref_link }) => slot !== 'excluded' && ref_link !== '')
      .map((review) => ({ ...review, reviewer: reviewerOf(review.ref_link) })),
  }))
  const reviewers = products.flatMap(({ reviews }) => reviews.map(({ reviewer }) => reviewer))
  const own = await ownedAmong(context, chainId, reviewers, wallets)
  const reviewed = products.flatMap(({ reviews, ...product }) => {
    const review = reviews.find(({ reviewer }) => !own.has(reviewer))
    return review ? { ...product, review } : []
  })
  const offers = reviewed.flatMap(({ name, price_usdc, sub_scores, review }) => {
    if (price_usdc === undefined) return []
    return {
      chainId,
      refLink: review.ref_link,
      title: oneLine(name, NAME_LENGTH),
      price: BigInt(price_usdc),
      rank: sub_scores.product_rank,
      line: oneLine(String(review.content_json.description ?? ''), LINE_LENGTH),
    }
  })
  if (offers.length > 0) return offers.slice(0, MOST_OFFERS)
  return reviewed.length > 0
    ? { text: 'I found something, but its price is not known yet. Try again in a minute.' }
    : { text: 'I found nothing that can be bought. Try other words.' }
}

const reviewerOf = (refLink: string): number =>
  AttributionToken.decodeUnverified(RefLink.parse(refLink).token).reviewerAgentId
