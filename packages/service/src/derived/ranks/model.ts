// A second implementation of the rank rules for tests: plain loops over whole tables, without any code of the first.
import type { Sql } from '@referrer/database'

type Id = bigint
type Review = {
  internal_id: Id
  agent_id: Id
  merchant_id: Id
  product_id: Buffer
  author_owner: Buffer | null
  content: string | null
  satisfaction_score: number | null
  comparison_outcome: string
  opinion_size: number | null
  opinion_weight: number | null
}

/** All rows of a chain. */
export async function readRecords(sql: Sql, chainId: number) {
  const of = <T extends object>(table: string) =>
    sql.unsafe<T[]>(`SELECT * FROM ${table} WHERE chain_id = $1`, [chainId])
  return {
    reviews: await of<Review>('market.reviews'),
    onChain: await of<{ internal_id: Id; review_id: Id; published_at: Date }>('chain.reviews'),
    products: await of<{ merchant_id: Id; product_id: Buffer; product_type: number }>('chain.products'),
    identities: await of<{ agent_id: Id; owner: Buffer }>('chain.identities'),
    agents: await of<{ agent_id: Id; flagged: boolean }>('market.agents'),
    escrows: await of<{ nonce: Buffer; buyer_agent_id: Id | null; merchant_id: Id; product_id: Buffer }>(
      'chain.escrows',
    ),
    ballots: await of<{ ballot_id: Id; nonce: Buffer }>('market.ballots'),
    votes: await of<{
      ballot_id: Id
      review_internal_id: Id
      voter_agent_id: Id
      author_agent_id: Id
      voter_owner: Buffer
      weight: number
      cast_at: Date
    }>('market.votes'),
    findings: await of<{ finding_id: Id; internal_id: Id; outcome: string; size: number; found_at: Date }>(
      'market.findings',
    ),
    means: await of<{ mean: number }>('market.opinion_totals'),
    decided: await sql<{ internal_id: Id; upheld: boolean }[]>`
      SELECT internal_id, upheld FROM market.dispute_decisions`,
  }
}

type Records = Awaited<ReturnType<typeof readRecords>>

export interface Counted {
  agent: Id
  owner: string
  type: number
  kind: string
  review: Id
  voterOwner: string
  weight: number
  at: Date
}

const nameOf = (bytes: Buffer | null | undefined) => bytes?.toString('hex') ?? ''
const productOf = (row: { merchant_id: Id; product_id: Buffer }) =>
  `${row.merchant_id}/${nameOf(row.product_id)}`
const compare = <T extends bigint | number>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0)

/** The evidence that ranks are computed from. */
export function countedBy(records: Records): Counted[] {
  const { reviews, onChain, products, agents, escrows, ballots, votes, findings, decided } = records
  const isFlagged = (agent: Id) => agents.some((row) => row.agent_id === agent && row.flagged)
  const isPublished = (row: Review) =>
    row.content !== null && onChain.some(({ internal_id }) => internal_id === row.internal_id)
  const typeOf = (row: Review) =>
    products.find((product) => productOf(product) === productOf(row))?.product_type ?? -1
  const counted: Counted[] = []

  const newestFirst = votes.toSorted(
    (a, b) =>
      compare(b.cast_at.getTime(), a.cast_at.getTime()) ||
      compare(b.ballot_id, a.ballot_id) ||
      compare(b.review_internal_id, a.review_internal_id),
  )
  for (const vote of newestFirst) {
    const review = reviews.find(({ internal_id }) => internal_id === vote.review_internal_id)
    const ballot = ballots.find(({ ballot_id }) => ballot_id === vote.ballot_id)
    if (!review || !ballot || vote.weight === 0 || !isPublished(review) || isFlagged(vote.voter_agent_id))
      continue
    const purchase = escrows.find(({ nonce }) => nonce.equals(ballot.nonce))
    if (purchase?.buyer_agent_id !== vote.voter_agent_id) continue
    const mine = {
      agent: vote.author_agent_id,
      owner: nameOf(review.author_owner),
      type: typeOf(review),
      kind: 'vote',
      voterOwner: nameOf(vote.voter_owner),
    }
    const others = counted.filter((one) =>
      Object.entries(mine).every(([key, value]) => one[key as keyof Counted] === value),
    )
    if (others.length === 3 || others.some((one) => one.review === review.internal_id)) continue
    counted.push({ ...mine, review: review.internal_id, weight: vote.weight, at: vote.cast_at })
  }

  const found: { mine: Counted; product: string; id: Id }[] = []
  for (const review of reviews) {
    const [latest] = findings
      .filter(({ internal_id }) => internal_id === review.internal_id)
      .sort((a, b) => compare(b.finding_id, a.finding_id))
    if (!latest || latest.outcome === 'pending' || latest.size === 0 || !isPublished(review)) continue
    const isUpheld = decided.some(({ internal_id, upheld }) => internal_id === review.internal_id && upheld)
    if (review.comparison_outcome === 'resolved' && !isUpheld) continue
    const mine = {
      agent: review.agent_id,
      owner: nameOf(review.author_owner),
      type: typeOf(review),
      kind: latest.outcome,
      review: review.internal_id,
      voterOwner: '',
      weight: (latest.outcome === 'confirmed' ? 2 : 3) * latest.size,
      at: latest.found_at,
    }
    found.push({ mine, product: productOf(review), id: latest.finding_id })
  }
  found.sort((a, b) => compare(b.id, a.id))
  const taken: typeof found = []
  for (const one of found) {
    const others = taken.filter(
      ({ mine }) =>
        mine.agent === one.mine.agent &&
        mine.owner === one.mine.owner &&
        mine.type === one.mine.type &&
        mine.kind === one.mine.kind,
    )
    if (others.length === 10 || others.some(({ product }) => product === one.product)) continue
    taken.push(one)
  }
  return [...counted, ...taken.map(({ mine }) => mine)]
}

/** The ranks of agents on a day (counted from 1970-01-01). */
export function ranksBy(records: Records, counted: readonly Counted[], day: number) {
  const ranks = new Map<Id, { repeat: number | null; one_off: number | null }>()
  for (const { agent_id, owner } of records.identities) {
    const mine = counted.filter((one) => one.agent === agent_id && one.owner === nameOf(owner))
    if (mine.length === 0) continue
    const isFlagged = records.agents.some((row) => row.agent_id === agent_id && row.flagged)
    const rank = (type: number, gain0: number, loss0: number) => {
      const sum = (isLoss: boolean) =>
        mine
          .filter((one) => one.type === type && (one.kind === 'contradicted') === isLoss)
          .reduce((all, { weight, at }) => {
            const age = day - Math.floor(at.getTime() / 86_400_000)
            return all + (weight / 1e6) * 0.5 ** (age / 180)
          }, 0)
      const [gain, loss] = [sum(false), sum(true)]
      return isFlagged || gain + loss < 0.5 ? null : (gain0 + gain) / (gain0 + loss0 + gain + loss)
    }
    ranks.set(agent_id, { repeat: rank(0, 6, 6), one_off: rank(1, 5, 7) })
  }
  return ranks
}

/** The ranks of products in millionths, by name, with the stored mean of the day. */
export function productRanksBy(records: Records): Map<string, number> {
  const { reviews, onChain, products, agents, means } = records
  const mean = means[0]?.mean ?? 500_000
  return new Map(
    products.map((product) => {
      const newest = new Map<string, { review: Review; at: number; id: Id }>()
      for (const review of reviews) {
        const place = onChain.find(({ internal_id }) => internal_id === review.internal_id)
        const isFlagged = agents.some((row) => row.agent_id === review.agent_id && row.flagged)
        if (productOf(review) !== productOf(product) || !place || review.content === null) continue
        if (review.opinion_size === null || review.satisfaction_score === null || isFlagged) continue
        const owner = nameOf(review.author_owner)
        const [at, id] = [place.published_at.getTime(), place.review_id]
        const other = newest.get(owner)
        if (!other || at > other.at || (at === other.at && id > other.id))
          newest.set(owner, { review, at, id })
      }
      let [weight, weighted] = [5_000_000, 5_000_000 * mean]
      for (const { review } of newest.values()) {
        weight += review.opinion_weight ?? 0
        weighted += (review.opinion_weight ?? 0) * Math.round((review.satisfaction_score ?? 0) * 1e6)
      }
      return [productOf(product), Math.round(weighted / weight)]
    }),
  )
}
