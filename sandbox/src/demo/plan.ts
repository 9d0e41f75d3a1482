// What happens in the demo market, day by day. Made from a seed: the same for everybody.
import type { Good } from '../shop/good.ts'
import { GOODS, SHOPS } from '../shop/shops.ts'
import { REVIEWERS, type Reviewer, WALLETS } from './cast.ts'
import { CLOSING_REVIEWS } from './closing-reviews.ts'
import { FACTS } from './facts.ts'
import { randomOf } from './random.ts'
import { type Content, reasonOf, reviewOf } from './texts.ts'

export const DAYS = 100
const SEED = 22
const PURCHASES = 300
/** Of the purchases of agents, those that are voted on and reviewed. */
const REVIEWED = 0.6
/** By then every product has its first review. */
const OPENING_DAYS = 30
const PRAISED = SHOPS.findIndex(({ name }) => name === 'Corner Store')
const SLANDERED = SHOPS.findIndex(({ name }) => name === 'Meridian')

/** Places in the lists of the plan. */
type At = number

export interface PlannedReview {
  day: number
  /** Of `REVIEWERS`. */
  by: At
  good: Good
  content: Content
  /** What was bought; undefined: on an approved proof. */
  purchase?: At
  /** With the votes that a buyer casts first, on reviews of the plan. */
  votes: { review: At; reasoning: string }[]
}

export interface PlannedPurchase {
  day: number
  /** Of `REVIEWERS`, or of `WALLETS`. */
  buyer: { reviewer: At } | { wallet: At }
  good: Good
  /** Whose link is followed. */
  through: At
}

/** A proof without a review. */
export interface PlannedProof {
  day: number
  by: At
  good: Good
  /** Else it waits for the admin. */
  isRejected: boolean
}

export interface Plan {
  days: number
  /** How many of `SHOPS` open, and how many of `REVIEWERS` come. */
  shops: number
  reviewers: number
  reviews: PlannedReview[]
  purchases: PlannedPurchase[]
  proofs: PlannedProof[]
  /** Whom the admin flags. */
  flags: { day: number; reviewer: At }[]
}

/** The demo shop alone, with what the first two reviewers say of it. */
export const smallPlan = (): Plan => ({
  ...{ days: 1, shops: 1, reviewers: 2, purchases: [], proofs: [], flags: [] },
  reviews: closingReviews(0),
})

export function makePlan(): Plan {
  const random = randomOf(SEED)
  const said = new Set<string>()
  const plan: Plan = {
    ...{ days: DAYS, shops: SHOPS.length, reviewers: REVIEWERS.length, reviews: [], purchases: [] },
    proofs: [
      { day: DAYS - 3, by: REVIEWERS.length - 3, good: goodAt('/quill/count'), isRejected: true },
      { day: DAYS - 2, by: REVIEWERS.length - 1, good: goodAt('/lathe/cron'), isRejected: false },
    ],
    flags: [{ day: DAYS - 20, reviewer: REVIEWERS.findIndex(({ honesty }) => honesty === 'shill') }],
  }
  const shopOf = (good: Good) => SHOPS.findIndex(({ goods }) => goods.includes(good))
  const knows = (by: At, good: Good) =>
    plan.reviews.some((review) => review.by === by && review.good === good)

  function write(by: At, good: Good, day: number, rest: Partial<PlannedReview> = {}): void {
    const own = (REVIEWERS[by] as Reviewer).honesty
    // Whoever praises or damns one shop is like others about the rest.
    const honesty = isPartial(by, good) || own === 'careful' || own === 'careless' ? own : 'average'
    const rating = ratingOf(good, honesty)
    const content = reviewOf(good, { rating, honesty, random, said })
    plan.reviews.push({ day, by, good, content, votes: [], ...rest })
  }

  function ratingOf(good: Good, honesty: Reviewer['honesty']): number {
    const stars = FACTS[good.path]?.stars ?? 3
    if (honesty === 'shill') return 5
    if (honesty === 'slanderer') return 1
    if (honesty === 'careless') return random.whole(3, 5)
    const isOff = honesty === 'average' && random.chance(0.35)
    return Math.min(Math.max(stars + (isOff ? random.pick([-1, 1]) : 0), 1), 5)
  }

  /** One of those who are there, and want to. */
  function somebody(day: number, good: Good, isWilling: (by: At) => boolean): At | undefined {
    const there = REVIEWERS.map((_, at) => at).filter(
      (at) => (REVIEWERS[at]?.joins ?? 0) < day && isWilling(at),
    )
    if (there.length === 0) return undefined
    const partial = there.filter((at) => isPartial(at, good))
    return random.pick(partial.length > 0 && random.chance(0.5) ? partial : there)
  }

  function isPartial(at: At, good: Good): boolean {
    const honesty = REVIEWERS[at]?.honesty
    return (
      (honesty === 'shill' && shopOf(good) === PRAISED) ||
      (honesty === 'slanderer' && shopOf(good) === SLANDERED)
    )
  }

  // First reviews, by people who had access before; the closing ones are of the demo shop.
  for (const [at, good] of GOODS.entries()) {
    const day = 1 + Math.floor((at * OPENING_DAYS) / GOODS.length)
    for (let count = random.whole(1, 2); count > 0; count--) {
      const by = somebody(day, good, (one) => one > 1 && !knows(one, good))
      if (by !== undefined) write(by, good, day)
    }
  }

  // More purchases as time goes by; what is well reviewed sells more.
  const days = Array.from({ length: PURCHASES }, () => 2 + Math.floor((DAYS - 4) * random.next() ** 0.85))
  const due: { day: number; act(): void }[] = []
  for (const day of days.toSorted((a, b) => a - b)) {
    for (const later of due.filter((one) => one.day <= day)) later.act()
    for (let at = due.length - 1; at >= 0; at--) if ((due[at]?.day ?? 0) <= day) due.splice(at, 1)
    buy(day)
  }
  for (const later of due) later.act()

  function buy(day: number): void {
    const open = plan.reviews.map((_, at) => at).filter((at) => (plan.reviews[at]?.day ?? 0) < day)
    const sold = [...new Set(open.map((at) => (plan.reviews[at] as PlannedReview).good))]
    const wanted = random.pick(sold.flatMap((one) => Array<Good>(appealOf(one)).fill(one)))
    const ofIt = open.filter((at) => plan.reviews[at]?.good === wanted)
    const through = random.pick(
      ofIt.flatMap((at) => Array<At>(plan.reviews[at]?.content.rating ?? 1).fill(at)),
    )
    const { good, by } = plan.reviews[through] as PlannedReview
    if (random.chance(0.05)) {
      plan.purchases.push({ day, buyer: { wallet: random.whole(0, WALLETS.length - 1) }, good, through })
      return
    }
    const reviewer = somebody(day, good, (one) => one !== by && one > 1)
    if (reviewer === undefined) return
    const purchase = plan.purchases.push({ day, buyer: { reviewer }, good, through }) - 1
    const reviewDay = Math.min(day + random.whole(1, 9), DAYS - 2)
    if (reviewDay > day && !knows(reviewer, good) && (isPartial(reviewer, good) || random.chance(REVIEWED)))
      due.push({ day: reviewDay, act: () => judge(reviewer, purchase, reviewDay) })
  }

  /** What is good sells more, and so does what people argue about. */
  function appealOf(one: Good): number {
    const isArgued = [PRAISED, SLANDERED].includes(shopOf(one))
    return (FACTS[one.path]?.stars ?? 3) + (isArgued ? 5 : 0)
  }

  function judge(by: At, purchase: At, day: number): void {
    const { good, through } = plan.purchases[purchase] as PlannedPurchase
    if (knows(by, good)) return
    const others = plan.reviews
      .map((_, at) => at)
      .filter((at) => {
        const review = plan.reviews[at] as PlannedReview
        return review.good === good && at !== through && review.by !== by && review.day < day
      })
    const votes = [...new Set([0, 1].flatMap(() => (others.length > 0 ? [random.pick(others)] : [])))]
    write(by, good, day, {
      purchase,
      votes: votes.map((review) => ({ review, reasoning: reasonOf(random) })),
    })
  }

  plan.reviews.push(...closingReviews(DAYS - 1))
  return plan
}

const closingReviews = (day: number): PlannedReview[] =>
  CLOSING_REVIEWS.map(({ by, path, content }) => ({ day, by, good: goodAt(path), content, votes: [] }))

function goodAt(path: string): Good {
  const good = GOODS.find((one) => one.path === path)
  if (!good) throw new Error(`nobody sells ${path}`)
  return good
}
