// The opposite attack: a ring lowers the rank of an honest reviewer.
import { FINDINGS_OF_EACH } from '@referrer/ranking'
import { DAY_MS } from '../escrows.ts'
import { rankInForce } from '../market.ts'
import type { Agent, Review } from '../records.ts'
import { type Rules, THE_RULES } from '../rules.ts'
import { BEST, Ring, TYPE, WORST } from './ring.ts'

const HONEST_VOTERS = 20
const INSIDE_BPS = 500

export type Smear = {
  k: number
  /** The number of honest opinions of each product before the attack. */
  opinions: number
  before: number
  after: number
  purchases: number
  /** In base units; the ring received the products for it. */
  left: bigint
}

export type SmearOptions = {
  /** They pay this part of the price. */
  part?: number
  /** Whether the honest shops are verified. */
  isVerified?: boolean
  /** How often each of them has bought at a shop of the ring before. */
  history?: number
}

/**
 * An honest reviewer has rightly praised ten products. Each of k owners buys all of them and gives the worst rating.
 */
export function smearOf(
  k: number,
  opinions: number,
  rules: Rules = THE_RULES,
  { part = 1, isVerified = false, history = 0 }: SmearOptions = {},
): Smear {
  const ring = new Ring(k, rules)
  const { target, links } = honestReviewer(ring, opinions, isVerified)
  if (history > 0) buyInside(ring, history)
  const before = rankInForce(target, TYPE)
  for (const link of links) {
    const price = (link.product.price * BigInt(part * 1_000)) / 1_000n
    // The vote that the service requires goes to another member of the ring.
    const friend = link.product.reviews.find(({ agent }) => agent === ring.keeper)
    for (const helper of ring.helpers) ring.review(ring.buy(helper, link, price), WORST, friend)
  }
  ring.follow()
  const after = rankInForce(target, TYPE)
  const { purchases } = ring
  return { k, opinions, before, after, purchases, left: ring.settle().left }
}

/** The helpers buy at a shop of the ring, and the standings of the next day know it. */
function buyInside(ring: Ring, times: number): void {
  const { link } = ring.list(ring.openShop(), { commissionBps: INSIDE_BPS })
  for (let count = 0; count < times; count++) for (const helper of ring.helpers) ring.buy(helper, link)
  ring.market.now += DAY_MS
  ring.follow()
}

function honestReviewer(
  ring: Ring,
  opinions: number,
  isVerified: boolean,
): { target: Agent; links: Review[] } {
  const target = ring.honest()
  const buyers = Array.from({ length: Math.max(HONEST_VOTERS, opinions) }, () => ring.honest())
  const links = Array.from({ length: FINDINGS_OF_EACH }, (_, index) => {
    const { product } = ring.findHonest()
    if (isVerified) {
      ring.market.verify(product.merchant)
      ring.follow()
    }
    const link = ring.market.publish(ring.honest(), product, BEST)
    const own = ring.market.publish(target, product, BEST)
    for (let count = 0; count < opinions; count++) {
      const buyer = buyers[(index * opinions + count) % buyers.length]
      if (!buyer) continue
      ring.tick()
      const purchase = ring.market.buy(link, buyer)
      ring.market.vote(purchase, [own])
      ring.market.reviewPurchase(purchase, BEST)
    }
    ring.follow()
    return link
  })
  return { target, links }
}
