// The attacks by which colluding owners can try to raise a rank.
import { FINDINGS_OF_EACH } from '@referrer/ranking'
import type { Agent, Merchant, Review } from '../records.ts'
import { BEST, priceOf, type Ring } from './ring.ts'

/** `k`: the number of owners who help. `run` returns the agent whose rank shows the result. */
export type Attack = { name: string; about: string; run(ring: Ring, k: number): Agent }

const VOTES = 3
/** How many agents vote for each helper before it votes itself; more would cost more than they gain. */
const PATRONS = 16

export const attacks = {
  selfVotes: {
    name: 'votes for oneself',
    about: "k agents of the star's own owner vote for it",
    run(ring, k) {
      const { link, reviews } = sell(ring)
      for (let count = 0; count < k; count++) votes(ring, ring.mint(ring.star.owner), link, reviews)
      return ring.star
    },
  },
  manyAgents: {
    name: 'one owner, many agents',
    about: 'k agents of one other owner vote for it',
    run(ring, k) {
      const owner = ring.newOwner()
      const { link, reviews } = sell(ring)
      for (let count = 0; count < k; count++) votes(ring, ring.mint(owner), link, reviews)
      return ring.star
    },
  },
  manyVotes: {
    name: 'the same owner again and again',
    about: 'one other owner votes for k × 3 reviews of it',
    run(ring, k) {
      const helper = ring.mint(ring.newOwner())
      const shop = ring.openShop()
      for (let count = 0; count < k; count++) {
        const { link, reviews } = sell(ring, shop)
        votes(ring, helper, link, reviews)
      }
      return ring.star
    },
  },
  tinyPurchases: {
    name: 'votes by tiny purchases',
    about: 'purchases that pay a hundredth of the full commission',
    run: (ring) => votedByAll(ring, { price: priceOf(ring.market.rules.full / 100n) }),
  },
  noCommission: {
    name: 'votes at an own shop, no commission',
    about: 'any price: all of it goes round in a circle',
    run: (ring) => votedByAll(ring, { price: 1_000_000_000n, commissionBps: 0 }),
  },
  ownersShop: {
    name: "votes at the star's own shop",
    about: "full commission, and the star's owner is the merchant",
    run(ring) {
      const { link, reviews } = sell(ring, ring.openShop(ring.star.owner))
      for (const helper of ring.helpers) votes(ring, helper, link, reviews)
      return ring.star
    },
  },
  honestShops: {
    name: 'votes at honest shops',
    about: "full commission through the ring's links, the rest of the price is gone",
    run(ring) {
      const { product, link } = ring.findHonest()
      const reviews = Array.from({ length: VOTES }, () => ring.publish(ring.star, product))
      for (const helper of ring.helpers) votes(ring, helper, link, reviews)
      return ring.star
    },
  },
  ownShop: {
    name: "votes at a partner's shop",
    about: 'full commission: all but the fee comes back',
    run: (ring) => votedByAll(ring),
  },
  oneBallot: {
    name: 'three votes on one ballot',
    about: 'the same with one purchase of each helper, whose votes are all for the star',
    run(ring) {
      const { link, reviews } = sell(ring)
      for (const helper of ring.helpers) ring.market.vote(ring.buy(helper, link), reviews)
      return ring.star
    },
  },
  farmedFindings: {
    name: 'farmed confirmations',
    about: `three helpers praise ${FINDINGS_OF_EACH} products of a partner, as the star does`,
    run(ring) {
      farm(ring, FINDINGS_OF_EACH)
      return ring.star
    },
  },
  moreFindings: {
    name: 'ever more confirmations',
    about: 'the same with k products',
    run(ring, k) {
      farm(ring, k)
      return ring.star
    },
  },
  sameProduct: {
    name: 'one product, many reviews',
    about: 'three helpers praise one product, and the star k times',
    run(ring, k) {
      const { product, link } = ring.list(ring.openShop())
      const purchases = ring.helpers.slice(0, 3).map((helper) => ring.buy(helper, link))
      for (const purchase of purchases) ring.review(purchase, BEST, undefined)
      for (let count = 0; count < k; count++) ring.publish(ring.star, product)
      ring.follow()
      return ring.star
    },
  },
  everything: {
    name: 'everything at once',
    about: 'helpers vote each other up, then for the star; and farmed confirmations',
    run(ring) {
      liftHelpers(ring)
      farm(ring, FINDINGS_OF_EACH)
      return votedByAll(ring)
    },
  },
  boughtAgent: {
    name: 'buying an agent with a rank',
    about: 'k owners voted for it; then it is sold',
    run(ring) {
      votedByAll(ring)
      ring.market.transfer(ring.star, ring.newOwner())
      ring.transactions++
      return ring.star
    },
  },
  flagged: {
    name: 'after the flag',
    about: 'k owners voted for it; then they are flagged, and it is not',
    run(ring) {
      votedByAll(ring)
      for (const helper of ring.helpers) ring.market.flag(helper)
      return ring.star
    },
  },
  fresh: {
    name: 'fresh agents after the flag',
    about: 'star and helpers are flagged; their owners mint agents and begin again',
    run(ring) {
      votedByAll(ring)
      for (const agent of [ring.star, ...ring.helpers]) ring.market.flag(agent)
      const star = ring.mint(ring.star.owner)
      const { link, reviews } = sell(ring, undefined, star)
      for (const { owner } of ring.helpers) votes(ring, ring.mint(owner), link, reviews)
      return star
    },
  },
} satisfies Record<string, Attack>

/** A product of the ring with three reviews by the agent. */
function sell(ring: Ring, shop: Merchant = ring.openShop(), author: Agent = ring.star, terms = {}) {
  const { product, link } = ring.list(shop, terms)
  return { link, reviews: Array.from({ length: VOTES }, () => ring.publish(author, product)) }
}

/** Votes for each review with a purchase of its own. */
function votes(ring: Ring, voter: Agent, link: Review, reviews: readonly Review[]): void {
  for (const review of reviews) ring.market.vote(ring.buy(voter, link), [review])
  ring.follow()
}

function votedByAll(ring: Ring, terms: { price?: bigint; commissionBps?: number } = {}): Agent {
  const { link, reviews } = sell(ring, undefined, ring.star, terms)
  for (const helper of ring.helpers) votes(ring, helper, link, reviews)
  return ring.star
}

/** In groups of three: one ballot has a vote for each member of a group. */
function liftHelpers(ring: Ring): void {
  const shop = ring.openShop()
  for (let first = 0; first < ring.helpers.length; first += VOTES) {
    const group = ring.helpers.slice(first, first + VOTES)
    const { product, link } = ring.list(shop)
    const rounds = Array.from({ length: VOTES }, () => group.map((helper) => ring.publish(helper, product)))
    const others = ring.helpers.filter((helper) => !group.includes(helper))
    for (const patron of [...group, ...others].slice(0, PATRONS + 1)) {
      for (const reviews of rounds) {
        const ofOthers = reviews.filter(({ agent }) => agent !== patron)
        if (ofOthers.length > 0) ring.market.vote(ring.buy(patron, link), ofOthers)
      }
      ring.follow()
    }
  }
}

function farm(ring: Ring, products: number): void {
  const shop = ring.openShop()
  for (let count = 0; count < products; count++) {
    const { product, link } = ring.list(shop)
    const own = ring.publish(ring.star, product)
    for (const helper of ring.helpers.slice(0, 3)) ring.review(ring.buy(helper, link), BEST, own)
  }
  ring.follow()
}
