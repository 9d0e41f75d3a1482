// What there are preview pictures of: the path of a picture, the routes that tell of its subject, and what is shown.
import type { AnswerOf } from '@referrer/client'
import { day } from '../format/moment.ts'
import { formatRank, plural, short } from '../format/text.ts'
import { formatBps, formatUsdc } from '../format/usdc.ts'
import { type Picture, svgOf } from './picture.ts'

export interface Subject {
  /** Name of the picture among all others. */
  key: string
  /** Paths of our routes to ask. */
  asks: string[]
  /** Draws it from the answers, in the order of `asks`; undefined answers are those of what does not exist. Undefined: there is no such subject. */
  draw(answers: unknown[]): string | undefined
}

const ID = '(0|[1-9]\\d{0,14})'
const MARKET = /^\/preview\/market\.png$/
const PRODUCT = new RegExp(`^/preview/product/${ID}/(0x[0-9a-f]{64})\\.png$`, 'i')
const REVIEWER = new RegExp(`^/preview/reviewer/${ID}\\.png$`)
const MERCHANT = new RegExp(`^/preview/merchant/${ID}\\.png$`)
const ESCROW = new RegExp(`^/preview/escrow/${ID}\\.png$`)

/** The subject of a picture's path; undefined: no picture has such a path. */
export function subjectOf(path: string): Subject | undefined {
  if (MARKET.test(path)) return subject('market', ['/v1/stats'], marketPicture)
  const product = PRODUCT.exec(path)
  if (product) return ofProduct(product[1] as string, (product[2] as string).toLowerCase())
  const reviewer = REVIEWER.exec(path)?.[1]
  if (reviewer) return subject(`reviewer ${reviewer}`, [`/v1/agent/${reviewer}/card`], reviewerPicture)
  const merchant = MERCHANT.exec(path)?.[1]
  if (merchant) return subject(`merchant ${merchant}`, [`/v1/merchant/${merchant}/summary`], merchantPicture)
  const escrow = ESCROW.exec(path)?.[1]
  if (escrow) return subject(`escrow ${escrow}`, [`/v1/escrow/${escrow}`], escrowPicture)
  return undefined
}

const subject = <T>(key: string, asks: string[], picture: (answer: T) => Picture): Subject => ({
  key,
  asks,
  draw: ([answer]) => (answer === undefined ? undefined : svgOf(picture(answer as T))),
})

type Product = AnswerOf<'/v1/merchant/product', 'get'>
type Products = AnswerOf<'/v1/product', 'get'>

/** The price and the counts are in the list of products only, which has those that are for sale. */
function ofProduct(merchantId: string, productId: string): Subject {
  const ids = `merchant_id=${merchantId}&product_id=${productId}`
  return {
    key: `product ${merchantId} ${productId}`,
    asks: [`/v1/merchant/product?${ids}`, `/v1/product?${ids}`],
    draw([alone, list]) {
      const card = (list as Products | undefined)?.products[0]
      const product = card ?? (alone as Product | undefined)
      return product && svgOf(productPicture(product, card))
    },
  }
}

const count = (value: number) => value.toLocaleString('en')
const usdc = (amount: number) => `${formatUsdc(amount)} USDC`
const rankText = (rank: number | null) => (rank === null ? 'new' : formatRank(rank))

const productPicture = (
  product: Product | Products['products'][number],
  card: Products['products'][number] | undefined,
): Picture => ({
  kicker: product.category || 'Product',
  title: product.name || `Product ${short(product.product_id)}`,
  text: product.description,
  rank: product.product_rank,
  facts: [
    ...(card?.price_usdc === undefined ? [] : [['Price', usdc(card.price_usdc)] as [string, string]]),
    ['Rank', formatRank(product.product_rank)],
    ...(card ? [['Reviews', count(card.review_count)] as [string, string]] : []),
    ['Commission', formatBps(product.commission_bps)],
  ],
})

const marketPicture = (stats: AnswerOf<'/v1/stats', 'get'>): Picture => ({
  kicker: 'A market for software agents',
  title: 'Reviews by agents that bought',
  text: 'And a commission for the ones that helped.',
  facts: [
    ['Products', count(stats.products)],
    ['Reviews', count(stats.reviews)],
    ['Purchases', count(stats.purchases)],
    ['Traded', usdc(stats.volume_usdc)],
  ],
})

const reviewerPicture = (agent: AnswerOf<'/v1/agent/{id}/card', 'get'>): Picture => ({
  kicker: agent.flagged ? 'Reviewer, flagged' : 'Reviewer',
  title: `Agent ${agent.agent_id}`,
  text: `Wrote ${plural(agent.review_count, 'review')}. ${plural(agent.sales_count, 'purchase was', 'purchases were')} made through them.`,
  rank: bestOf(agent.review_rank_repeat, agent.review_rank_one_off),
  facts: [
    ['Rank, bought again', rankText(agent.review_rank_repeat)],
    ['Rank, bought once', rankText(agent.review_rank_one_off)],
    ['Reviews', count(agent.review_count)],
    ['Earned', usdc(agent.commission.total_realized)],
  ],
})

const bestOf = (one: number | null, other: number | null) =>
  one === null ? other : Math.max(one, other ?? 0)

const merchantPicture = (summary: AnswerOf<'/v1/merchant/{id}/summary', 'get'>): Picture => ({
  kicker: 'Merchant',
  title: `Merchant ${summary.merchant.merchant_id}`,
  text: summary.merchant.description ?? '',
  rank: summary.product_rank_mean,
  facts: [
    ['Products', count(summary.products_total)],
    ['Sales', count(summary.sales_count)],
    ['Reviews', count(summary.reviews_count)],
    ['Mean rank', rankText(summary.product_rank_mean)],
  ],
})

const escrowPicture = (escrow: AnswerOf<'/v1/escrow/{id}', 'get'>): Picture => ({
  kicker: `Purchase ${escrow.escrow_id}`,
  title: escrow.product_name || `Product ${short(escrow.product_id)}`,
  text: `Bought on ${day(escrow.happened_at)} through a review of agent ${escrow.reviewer_agent_id}.`,
  facts: [
    ['Price', usdc(escrow.price_usdc)],
    ['Commission', usdc(escrow.commission_usdc)],
    ['Cashback', escrow.cashback.amount === 0 ? 'none' : usdc(escrow.cashback.amount)],
    ['State', escrow.state === 'settled' ? 'settled' : 'open'],
  ],
})
