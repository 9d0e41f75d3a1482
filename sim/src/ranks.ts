import {
  coveredRank,
  coverOf,
  dayOf,
  deflate,
  findingWeight,
  inflate,
  MILLION,
  PRODUCT_TYPES,
  type ProductType,
  rankOf,
  voiceOf,
} from '@referrer/ranking'
import { AuthorsMoney } from './money.ts'
import type { Agent, Owner, Purchase, Review, Vote } from './records.ts'
import type { Rules } from './rules.ts'
import type { Standings } from './standings.ts'

/** A piece of evidence for a rank, in millionths as of its day. */
type Evidence = { side: 'gain' | 'loss'; weight: number; day: number }
type Totals = { gain: bigint; loss: bigint }
/** Evidence that is chosen together: the votes of one owner for one author, or the findings on an author's reviews. */
type Unit = { agent: Agent; owner: Owner; type: ProductType; select: () => Evidence[]; counted: Evidence[] }

/** Keeps Review Ranks up to date by recomputing only what has changed. */
export class Ranks {
  readonly #rules: Rules
  readonly #units = new Map<string, Unit>()
  readonly #votes = new Map<string, Vote[]>()
  readonly #reviews = new Map<string, Set<Review>>()
  readonly #unitsOfVoter = new Map<Agent, Set<Unit>>()
  readonly #totals = new Map<Agent, Map<string, Totals>>()
  readonly #changed = new Set<Unit>()
  readonly #agents = new Set<Agent>()
  #day = -1

  readonly #standings: Standings
  readonly #money: AuthorsMoney

  constructor(rules: Rules, standings: Standings) {
    this.#rules = rules
    this.#standings = standings
    this.#money = new AuthorsMoney(rules)
  }

  sold(purchase: Purchase): void {
    this.#money.sold(purchase)
    this.#agents.add(purchase.link.agent)
  }

  /** The buyer agrees with the review whose link it followed: half of its money speaks for the author. */
  agreed(purchase: Purchase): void {
    const { buyer, link } = purchase
    if (buyer) this.#money.supported(buyer, { author: link, purchase, parts: 2n })
    this.#agents.add(link.agent)
  }

  /** The other half speaks for the authors whom it votes for. */
  voted(vote: Vote, votesOfBallot: number): void {
    if (vote.supports) {
      const parts = BigInt(2 * votesOfBallot)
      this.#money.supported(vote.voter, { author: vote.review, purchase: vote.purchase, parts })
      this.#agents.add(vote.review.agent)
    }
    if (vote.weight === 0) return
    const { agent, owner, product } = vote.review
    const who = this.#rules.ownersCount ? vote.voterOwner : vote.voter.id
    const key = `${agent.id}/${owner}/${product.type}/${who}`
    const votes = this.#votes.get(key) ?? []
    this.#votes.set(key, votes)
    votes.push(vote)
    const unit = this.#unit(key, vote.review, () => this.#votesThatCount(votes))
    this.#changed.add(unit)
    const units = this.#unitsOfVoter.get(vote.voter) ?? new Set()
    this.#unitsOfVoter.set(vote.voter, units.add(unit))
  }

  /** The review has a new finding, or its dispute was decided. */
  found(review: Review): void {
    const key = `${review.agent.id}/${review.owner}/${review.product.type}`
    const reviews = this.#reviews.get(key) ?? new Set()
    this.#reviews.set(key, reviews.add(review))
    this.#changed.add(this.#unit(key, review, () => this.#findingsThatCount(reviews)))
  }

  /** The owner or the flag of the agent has changed. */
  changed(agent: Agent): void {
    this.#agents.add(agent)
    for (const unit of this.#unitsOfVoter.get(agent) ?? []) this.#changed.add(unit)
    if (!agent.flagged || !this.#rules.flagsCount) return
    for (const author of this.#money.withdrawn(agent)) this.#agents.add(author)
  }

  follow(now: number): void {
    const day = dayOf(new Date(now))
    for (const unit of this.#changed) this.#look(unit)
    this.#changed.clear()
    const old = day > this.#day ? this.#totals.keys() : []
    this.#day = day
    for (const agent of new Set([...this.#agents, ...old])) {
      for (const type of PRODUCT_TYPES) agent.ranks[type] = this.#rank(agent, type)
    }
    this.#agents.clear()
  }

  #look(unit: Unit): void {
    const totals = this.#totalsOf(unit)
    for (const { side, weight, day } of unit.counted) totals[side] -= inflate(weight, day)
    unit.counted = unit.select()
    for (const { side, weight, day } of unit.counted) totals[side] += inflate(weight, day)
    this.#agents.add(unit.agent)
  }

  /** The newest votes, each on a different review. */
  #votesThatCount(votes: readonly Vote[]): Evidence[] {
    const counted = new Map<Review, Evidence>()
    for (const { review, voter, weight, castAt } of votes.toReversed()) {
      if (counted.size >= this.#rules.votesOfPair) break
      if (counted.has(review) || (this.#rules.flagsCount && voter.flagged)) continue
      counted.set(review, { side: 'gain', weight, day: dayOf(new Date(castAt)) })
    }
    return [...counted.values()]
  }

  /** The newest findings of each outcome, each on a different product. */
  #findingsThatCount(reviews: ReadonlySet<Review>): Evidence[] {
    const newest = [...reviews].sort((a, b) => (b.finding?.id ?? 0) - (a.finding?.id ?? 0))
    return (['confirmed', 'contradicted'] as const).flatMap((outcome) => {
      const counted = new Map<unknown, Evidence>()
      for (const review of newest) {
        const { finding, product, upheld } = review
        const about = this.#rules.productsCountOnce ? product : review
        if (finding?.outcome !== outcome || upheld === false || counted.has(about)) continue
        if (counted.size >= this.#rules.findingsOfEach) break
        const weight = findingWeight(outcome, finding.size)
        if (weight === 0) continue
        const side = outcome === 'confirmed' ? 'gain' : 'loss'
        counted.set(about, { side, weight, day: dayOf(new Date(finding.foundAt)) })
      }
      return [...counted.values()]
    })
  }

  #rank(agent: Agent, type: ProductType): number | null {
    if (agent.flagged) return null
    const sums = { gain: 0n, loss: 0n }
    const [day, standings] = [this.#day, this.#standings]
    for (const [key, { gain, loss }] of this.#totals.get(agent) ?? []) {
      const [owner, of] = key.split('/')
      if (of !== type || (this.#rules.evidenceStays && Number(owner) !== agent.owner)) continue
      sums.gain += gain
      sums.loss += loss
    }
    const voice =
      standings.isOn && this.#rules.standingCounts
        ? voiceOf(standings.ofOwner(agent.owner) ?? MILLION)
        : MILLION
    const rank = rankOf(type, {
      gain: (deflate(sums.gain, day) * voice) / MILLION,
      loss: deflate(sums.loss, day),
    })
    if (rank === null || !standings.isOn || !this.#rules.salesNeedCover) return rank
    return coveredRank(type, rank, coverOf(this.#money.coverOf(agent, day, standings), this.#rules.full))
  }

  #unit(key: string, { agent, owner, product }: Review, select: () => Evidence[]): Unit {
    const unit = this.#units.get(key) ?? { agent, owner, type: product.type, select, counted: [] }
    this.#units.set(key, unit)
    return unit
  }

  #totalsOf({ agent, owner, type }: Unit): Totals {
    const ofAgent = this.#totals.get(agent) ?? new Map<string, Totals>()
    this.#totals.set(agent, ofAgent)
    const totals = ofAgent.get(`${owner}/${type}`) ?? { gain: 0n, loss: 0n }
    ofAgent.set(`${owner}/${type}`, totals)
    return totals
  }
}
