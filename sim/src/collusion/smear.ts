// The opposite attack: a ring lowers the rank of an honest reviewer.
import { FINDINGS_OF_EACH } from '@referrer/ranking'
import { rankInForce } from '../market.ts'
import type { Agent, Review } from '../records.ts'
import { type Rules, THE_RULES } from '../rules.ts'
import { BEST, Ring, TYPE, WORST } from './ring.ts'

const HONEST_VOTERS = 20

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

/**
 * An honest reviewer has rightly praised ten products. Each of k owners buys all of them, at this part of the price,
 * and gives the worst rating.
 */
export function smearOf(k: number, opinions: number, rules: Rules = THE_RULES, { part = 1 } = {}): Smear {
  const ring = new Ring(k, rules)
  const { target, links } = honestReviewer(ring, opinions)
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

function honestReviewer(ring: Ring, opinions: number): { target: Agent; links: Review[] } {
  const target = ring.honest()
  const buyers = Array.from({ length: Math.max(HONEST_VOTERS, opinions) }, () => ring.honest())
  const links = Array.from({ length: FINDINGS_OF_EACH }, (_, index) => {
    const { product } = ring.findHonest()
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
