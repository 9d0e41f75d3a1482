// Finds rings: groups of owners who buy and vote among themselves at shops that the operator has not verified. What it
// finds is shown to the operator, who decides. All values are whole numbers.
import { add, at, rowsBy } from './columns.ts'
import { communitiesOf } from './communities.ts'

/** What owners did, in columns. Owners and shops have numbers from 0 on. */
export interface Dealings {
  owners: {
    /** In millionths. */
    standing: Int32Array
    /** All votes that the owner cast and got, at whatever shop, without those for its own agents. */
    cast: Int32Array
    got: Int32Array
    /** All that it spent at shops that are not its own. */
    spent: Float64Array
  }
  /** How many votes all owners cast, also those who are not here. */
  allVotes: number
  /** Votes for others at such shops: one row for each voter, author and shop. Times are in seconds since 1970-01-01. */
  votes: {
    voter: Int32Array
    author: Int32Array
    shop: Int32Array
    count: Int32Array
    first: Float64Array
    last: Float64Array
  }
  /** What owners spent at such shops: one row for each owner and shop. */
  spending: { owner: Int32Array; shop: Int32Array; spent: Float64Array }
}

export interface Ring {
  /** Ascending, with the votes that each cast and got inside. */
  members: { owner: number; cast: number; got: number }[]
  /** Where the members voted for each other, and what they spent there; the most votes first. */
  shops: { shop: number; votes: number; spent: number }[]
  /** Votes of members for each other at these shops, and all votes that members cast. */
  votes: { inside: number; all: number; first: number; last: number }
  spent: { inside: number; all: number }
  /** The mean of the members, in millionths. */
  standing: number
}

/** A member casts at least this part of its votes for other members, at the shops of the ring; in percent. */
export const VOTES_INSIDE = 25
/** A member casts and gets together at least this many votes inside. */
export const VOTES_OF_MEMBER = 3
/** The votes inside a ring of two, at least; each further member needs two more. */
const VOTES_OF_RING = 6
/** The members spent at least this part of their money at the shops of the ring, in percent. */
const SPENT_INSIDE = 25

/** The rings, the most members first. */
export function ringsIn(dealings: Dealings): Ring[] {
  const everybody = new Int32Array(dealings.owners.cast.length)
  const groups = takeApart(dealings, coreOf(dealings, everybody))
  return evidenceOf(dealings, coreOf(dealings, groups))
    .filter(isRing)
    .sort((a, b) => b.members.length - a.members.length || firstOf(a) - firstOf(b))
}

const firstOf = ({ members }: Ring): number => members[0]?.owner ?? 0

const isRing = ({ members, votes, spent }: Ring): boolean =>
  members.length >= 2 &&
  votes.inside >= VOTES_OF_RING + 2 * (members.length - 2) &&
  100 * spent.inside >= SPENT_INSIDE * spent.all

/** No group. */
const NONE = -1

/**
 * Takes out of each group the owners who cast too few of their votes inside it, until all others cast enough. Of an
 * owner who casts none, the votes that it gets count.
 */
function coreOf({ owners, votes }: Dealings, groups: Int32Array): Int32Array {
  const [byVoter, byAuthor] = [rowsBy(votes.voter, groups.length), rowsBy(votes.author, groups.length)]
  const [cast, got] = [new Int32Array(groups.length), new Int32Array(groups.length)]
  const left = groups.slice()
  const isInside = (row: number) => {
    const group = at(left, at(votes.voter, row))
    return group !== NONE && group === at(left, at(votes.author, row))
  }
  for (let row = 0; row < votes.count.length; row++) {
    if (!isInside(row)) continue
    add(cast, at(votes.voter, row), at(votes.count, row))
    add(got, at(votes.author, row), at(votes.count, row))
  }
  const stays = (owner: number) => {
    const [inside, all] = at(owners.cast, owner) > 0 ? [cast, owners.cast] : [got, owners.got]
    const isEnough = 100 * at(inside, owner) >= VOTES_INSIDE * at(all, owner)
    return isEnough && at(cast, owner) + at(got, owner) >= VOTES_OF_MEMBER
  }
  const out: number[] = []
  const check = (owner: number) => {
    if (!isOut[owner] && !stays(owner)) isOut[owner] = out.push(owner)
  }
  const isOut = groups.map((group) => (group === NONE ? 1 : 0))
  for (let owner = 0; owner < groups.length; owner++) check(owner)
  for (let owner = out.pop(); owner !== undefined; owner = out.pop()) {
    for (const row of byVoter(owner)) {
      if (!isInside(row)) continue
      add(got, at(votes.author, row), -at(votes.count, row))
      check(at(votes.author, row))
    }
    for (const row of byAuthor(owner)) {
      if (!isInside(row)) continue
      add(cast, at(votes.voter, row), -at(votes.count, row))
      check(at(votes.voter, row))
    }
    left[owner] = NONE
  }
  return left
}

/** Divides one group into communities by the votes between its owners. */
function takeApart({ owners, allVotes, votes }: Dealings, group: Int32Array): Int32Array {
  const nodes = Int32Array.from(group.keys()).filter((owner) => at(group, owner) !== NONE)
  const nodeOf = new Int32Array(group.length).fill(NONE)
  for (const [node, owner] of nodes.entries()) nodeOf[owner] = node
  const rows = Int32Array.from(votes.count.keys()).filter(
    (row) => at(nodeOf, at(votes.voter, row)) !== NONE && at(nodeOf, at(votes.author, row)) !== NONE,
  )
  const labels = communitiesOf({
    degree: Float64Array.from(nodes, (owner) => at(owners.cast, owner) + at(owners.got, owner)),
    all: 2 * allVotes,
    from: rows.map((row) => at(nodeOf, at(votes.voter, row))),
    to: rows.map((row) => at(nodeOf, at(votes.author, row))),
    weight: Float64Array.from(rows, (row) => at(votes.count, row)),
  })
  return nodeOf.map((node) => (node === NONE ? NONE : at(labels, node)))
}

function evidenceOf({ owners, votes, spending }: Dealings, groups: Int32Array): Ring[] {
  const found = new Map<number, Gathered>()
  for (const [owner, group] of groups.entries()) {
    if (group === NONE) continue
    const ring = found.get(group) ?? new Gathered()
    found.set(group, ring)
    ring.members.set(owner, { owner, cast: 0, got: 0 })
    ring.votes.all += at(owners.cast, owner)
    ring.spent.all += at(owners.spent, owner)
    ring.standings += at(owners.standing, owner)
  }
  for (let row = 0; row < votes.count.length; row++) {
    const [voter, author] = [at(votes.voter, row), at(votes.author, row)]
    if (at(groups, voter) !== at(groups, author)) continue
    found.get(at(groups, voter))?.voted(voter, author, {
      shop: at(votes.shop, row),
      count: at(votes.count, row),
      first: at(votes.first, row),
      last: at(votes.last, row),
    })
  }
  for (let row = 0; row < spending.spent.length; row++) {
    found.get(at(groups, at(spending.owner, row)))?.spentAt(at(spending.shop, row), at(spending.spent, row))
  }
  return [...found.values()].map((ring) => ring.toRing())
}

/** The evidence for one ring. */
class Gathered {
  readonly members = new Map<number, Ring['members'][number]>()
  readonly shops = new Map<number, Ring['shops'][number]>()
  readonly votes = { inside: 0, all: 0, first: Number.POSITIVE_INFINITY, last: 0 }
  readonly spent = { inside: 0, all: 0 }
  standings = 0

  voted(
    voter: number,
    author: number,
    { shop, count, first, last }: { shop: number; count: number; first: number; last: number },
  ): void {
    const [from, to] = [this.members.get(voter), this.members.get(author)]
    if (!from || !to) return
    from.cast += count
    to.got += count
    const known = this.shops.get(shop) ?? { shop, votes: 0, spent: 0 }
    this.shops.set(shop, known)
    known.votes += count
    this.votes.inside += count
    this.votes.first = Math.min(this.votes.first, first)
    this.votes.last = Math.max(this.votes.last, last)
  }

  spentAt(shop: number, amount: number): void {
    const known = this.shops.get(shop)
    if (!known) return
    known.spent += amount
    this.spent.inside += amount
  }

  toRing(): Ring {
    return {
      members: [...this.members.values()],
      shops: [...this.shops.values()].sort((a, b) => b.votes - a.votes || a.shop - b.shop),
      votes: this.votes,
      spent: this.spent,
      standing: Math.floor(this.standings / this.members.size),
    }
  }
}
