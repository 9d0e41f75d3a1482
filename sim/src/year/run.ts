import { MILLION } from '@referrer/ranking'
import { DAY_MS, votesMissing } from '../escrows.ts'
import { Random } from '../random.ts'
import type { Agent, Purchase, Review } from '../records.ts'
import { chooseFriendsLink, chooseLink, experienceOf, friendlyVotes, honestVotes } from './behaviour.ts'
import { createWorld, type RingStyle, type Scale, START, type Trust, type World } from './world.ts'

const DAYS = 365
export const TICKS_A_DAY = 2
const TICK_MS = DAY_MS / TICKS_A_DAY

/** The share of honest agents who write reviews with proofs, and the number of such reviews for each. */
const WRITERS = 0.3
const PROOFS_OF_WRITER = 6
const BY_WALLET = 0.05
const REVIEWS = 0.6
/** The most attempts to buy in one tick. */
const LOOKS = 10_000
const ADMIN_DAYS = 5
/** How far a review may be from the true quality before the admin upholds a contradiction. */
const LENIENCE = 0.3 * MILLION
/** When in the year (as a fraction) some agents are sold, and a ring is flagged. */
const SOLD = { at: 0.5, agents: 0.01 }
const FLAGGED_AT = 0.55
const NEWCOMERS_AT = 0.5

/** Four of five honest shops are verified. */
export const VERIFIED: Trust = { verified: 0.8 }

export type Tick = { number: number; isLast: boolean }

export type Options = {
  seed: number
  scale: Scale
  style?: RingStyle
  days?: number
  trust?: Trust
  /** Called when shops are verified and nothing else has happened yet. */
  onBegin?: (world: World) => void | Promise<void>
  /** Called after each half day, when everything has been followed. */
  onTick?: (world: World, tick: Tick) => void | Promise<void>
}

/** Simulates a year of the market. */
export async function runYear({
  seed,
  scale,
  style = 'loud',
  days = DAYS,
  trust = VERIFIED,
  onBegin,
  onTick,
}: Options): Promise<World> {
  const random = new Random(seed)
  const ticks = days * TICKS_A_DAY
  const world = createWorld(random, scale, style, trust)
  const { market } = world
  market.follow()
  await onBegin?.(world)
  const plan = createPlan()
  for (const { at, agent, isFriendly } of writings(random, world, ticks)) {
    plan.at(at, () => write(random, world, agent, isFriendly))
  }
  plan.at(SOLD.at * ticks, () => {
    const sold = random.some(world.honest, Math.ceil(world.honest.length * SOLD.agents))
    for (const [index, agent] of sold.entries()) market.transfer(agent, 1_000_000 + index)
  })
  plan.at(FLAGGED_AT * ticks, () => {
    for (const agent of world.rings[2]?.members ?? []) market.flag(agent)
  })

  const disputed = new Set<Review>()
  for (let tick = 0; tick < ticks; tick++) {
    market.now = START + tick * TICK_MS
    plan.do(tick)
    const upTo = Math.floor((scale.purchases * (tick + 1)) / ticks)
    // Not every attempt finds something to buy.
    for (let looks = 0; looks < LOOKS && market.purchases.length < upTo; looks++) {
      market.now++
      const purchase = buy(random, world)
      if (!purchase?.buyer || !random.chance(REVIEWS)) continue
      plan.at(tick + random.between(1, 5 * TICKS_A_DAY), () => voteAndReview(random, world, purchase))
    }
    if (tick % TICKS_A_DAY === 0) {
      for (const review of market.reviews) {
        if (review.outcome !== 'contradicted' || disputed.has(review)) continue
        disputed.add(review)
        const isWrong = Math.abs(review.satisfaction - (world.quality.get(review.product) ?? 0)) > LENIENCE
        if (isWrong && !(world.ringOf.has(review.agent) && random.chance(0.5))) continue
        market.now++
        market.dispute(review)
        plan.at(tick + ADMIN_DAYS * TICKS_A_DAY, () => market.resolve(review, isWrong))
      }
    }
    market.now = START + (tick + 1) * TICK_MS - 1
    market.follow()
    noteColdStarts(world)
    await onTick?.(world, { number: tick, isLast: tick === ticks - 1 })
  }
  return world
}

function noteColdStarts({ market, honest, coldStarts }: World): void {
  for (const agent of honest) {
    if (coldStarts.has(agent) || (agent.ranks.repeat ?? agent.ranks.one_off) === null) continue
    coldStarts.set(agent, market.purchases.filter(({ buyer }) => buyer === agent).length)
  }
}

/** The reviews with proofs and their times; all members of a ring review its products. */
function writings(random: Random, { honest, rings, roles }: World, ticks: number) {
  const writers = honest.filter((agent) => roles.get(agent)?.what !== 'newcomer')
  const some = random.some(writers, Math.round(honest.length * WRITERS))
  const ofHonest = some.flatMap((agent) =>
    Array.from({ length: PROOFS_OF_WRITER }, () => ({ agent, isFriendly: false })),
  )
  const ofRings = rings.flatMap(({ members, products }) =>
    members.flatMap((agent) =>
      Array.from({ length: products.length + 2 }, () => ({ agent, isFriendly: true })),
    ),
  )
  // Half of them in the first days, so that there is something to read.
  return [...ofHonest, ...ofRings].map((writing) => ({
    ...writing,
    at: random.below(random.chance(0.5) ? 2 * TICKS_A_DAY : (ticks * 4) / 5),
  }))
}

function write(random: Random, world: World, agent: Agent, isFriendly: boolean): void {
  const { market } = world
  const ring = isFriendly ? world.ringOf.get(agent) : undefined
  market.now++
  if (ring && random.chance(0.75)) market.publish(agent, random.pick(ring.products), MILLION)
  else {
    const product = random.pick(market.products)
    const experience = experienceOf(random, world, product)
    market.publish(agent, product, ring ? ringsRating(world, experience) : experience)
  }
}

/**
 * The rating that a ring gives to products of others: bad for good ones and good for bad ones. A quiet ring tells the
 * truth.
 */
function ringsRating({ style }: World, experience: number): number {
  if (style === 'quiet') return experience
  return experience >= MILLION / 2 ? 0 : MILLION
}

function buy(random: Random, world: World): Purchase | null {
  const buyer = random.chance(BY_WALLET) ? null : random.pick(world.market.agents)
  if (buyer && !hasBegun(world, buyer)) return null
  const ring = buyer ? world.ringOf.get(buyer) : undefined
  const link =
    (buyer && ring && random.chance(0.6) ? chooseFriendsLink(random, ring, buyer) : null) ??
    chooseLink(random, world, buyer)
  return link && world.market.buy(link, buyer ?? -1)
}

function hasBegun({ market, roles }: World, agent: Agent): boolean {
  return roles.get(agent)?.what !== 'newcomer' || market.now >= START + NEWCOMERS_AT * DAYS * DAY_MS
}

function voteAndReview(random: Random, world: World, purchase: Purchase): void {
  const { buyer, product } = purchase
  if (!buyer) return
  const ring = world.ringOf.get(buyer)
  const experience = experienceOf(random, world, product)
  world.market.now++
  const votes = ring ? friendlyVotes(random, ring, purchase) : honestVotes(random, purchase, experience)
  if (votes.length > 0) world.market.vote(purchase, votes)
  if (votesMissing(purchase)) return
  const isFriends = ring?.products.includes(product)
  const said = isFriends ? MILLION : ring ? ringsRating(world, experience) : experience
  world.market.reviewPurchase(purchase, said)
}

/** Actions planned for later ticks. */
function createPlan() {
  const plan = new Map<number, (() => void)[]>()
  return {
    at(tick: number, what: () => void) {
      plan.set(Math.floor(tick), [...(plan.get(Math.floor(tick)) ?? []), what])
    },
    do(tick: number) {
      for (const what of plan.get(tick) ?? []) what()
      plan.delete(tick)
    },
  }
}
