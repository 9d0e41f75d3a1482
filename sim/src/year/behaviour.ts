// How the agents of the simulated year behave. Honest ones read reviews, buy, and report what they experienced;
// members of a ring favour each other.
import { MILLION } from '@referrer/ranking'
import { rankInForce } from '../market.ts'
import type { Random } from '../random.ts'
import type { Agent, Product, Purchase, Review } from '../records.ts'
import type { Ring, World } from './world.ts'

const READ = 12
const NOISE = 0.1
const STEP = MILLION / 4
const NEAR = MILLION / 4
const VOTES = 3

/** A rating of one to five, as satisfaction: the product's quality with some random noise. */
export function experienceOf(random: Random, { quality }: World, product: Product): number {
  const luck = (random.share() + random.share() + random.share() - 1.5) * 2 * NOISE * MILLION
  const felt = Math.min(Math.max((quality.get(product) ?? 0) + luck, 0), MILLION)
  return Math.round(felt / STEP) * STEP
}

/**
 * A buyer picks a category, reads a dozen reviews and follows the one with the best score: seven tenths are the
 * satisfaction times the author's rank, three tenths the Product Rank.
 */
export function chooseLink(
  random: Random,
  { market, categories, roles }: World,
  buyer: Agent | null,
): Review | null {
  const role = buyer && roles.get(buyer)
  const products = role?.what === 'niche' ? role.products : random.pick(categories)
  const all = products.flatMap(({ reviews }) => random.some(reviews, 3))
  const readable = all.filter(({ agent }) => agent.owner !== buyer?.owner && !agent.flagged)
  const scored = random.some(readable, READ).map((review) => {
    const { agent, product, satisfaction } = review
    const praise = (satisfaction / MILLION) * rankInForce(agent, product.type)
    return { review, score: 0.7 * praise + (0.3 * market.opinions.rankOf(product)) / MILLION }
  })
  return scored.sort((a, b) => b.score - a.score)[0]?.review ?? null
}

/** A link at the ring's shop, by another member. */
export function chooseFriendsLink(random: Random, ring: Ring, buyer: Agent): Review | null {
  const friends = random.some(ring.members, 5).filter((member) => member !== buyer)
  const product = random.pick(ring.products)
  const links = product.reviews.filter(({ agent }) => friends.includes(agent))
  return links.length > 0 ? random.pick(links) : null
}

/**
 * Votes for the reviews that agree with the buyer's experience. If none does, half of the buyers vote for the nearest
 * one.
 */
export function honestVotes(random: Random, purchase: Purchase, experience: number): Review[] {
  const read = candidates(random, purchase, 6)
  const off = ({ satisfaction }: Review) => Math.abs(satisfaction - experience)
  const right = read.filter((review) => off(review) <= NEAR).slice(0, VOTES)
  if (right.length > 0 || random.chance(0.5)) return right
  return read.toSorted((a, b) => off(a) - off(b)).slice(0, 1)
}

/** Votes for members of the ring; if there are none, for any review. */
export function friendlyVotes(random: Random, ring: Ring, purchase: Purchase): Review[] {
  const all = candidates(random, purchase, purchase.product.reviews.length)
  const friends = all.filter(({ agent }) => ring.members.includes(agent))
  return friends.length > 0 ? random.some(friends, VOTES) : all.slice(0, 1)
}

function candidates(random: Random, { product, link, payer }: Purchase, count: number): Review[] {
  const others = product.reviews.filter((review) => review !== link && review.agent.owner !== payer)
  return random.some(others, count)
}
