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
  opinion_agrees: boolean | null
}

type Escrow = {
  escrow_id: Id
  nonce: Buffer
  payer: Buffer
  buyer_agent_id: Id | null
  buyer_owner: Buffer | null
  merchant_id: Id
  product_id: Buffer
  review_id: Id
  price: bigint
  commission: bigint
  deposited_at: Date
  block_number: bigint
  log_index: number
}

type Placed = { block_number: bigint; log_index: number }

/** Whether the first came before the second, or with it. */
const isBefore = (first: Placed, at: Date, second: Placed, then: Date) =>
  (at.getTime() - then.getTime() ||
    compare(first.block_number, second.block_number) ||
    first.log_index - second.log_index) <= 0

/** All rows of a chain. */
export async function readRecords(sql: Sql, chainId: number) {
  const of = <T extends object>(table: string) =>
    sql.unsafe<T[]>(`SELECT * FROM ${table} WHERE chain_id = $1`, [chainId])
  return {
    reviews: await of<Review>('market.reviews'),
    onChain: await of<{
      internal_id: Id
      review_id: Id
      agent_id: Id
      merchant_id: Id
      product_id: Buffer
      proof_kind: number
      proof_id: Id
      published_at: Date
      block_number: bigint
      log_index: number
    }>('chain.reviews'),
    products: await of<{ merchant_id: Id; product_id: Buffer; product_type: number }>('chain.products'),
    identities: await of<{ agent_id: Id; owner: Buffer }>('chain.identities'),
    agents: await of<{ agent_id: Id; flagged: boolean }>('market.agents'),
    owners: await of<{
      block_number: bigint
      log_index: number
      agent_id: Id
      to_owner: Buffer
      changed_at: Date
    }>('chain.ownership_changes'),
    escrows: await of<Escrow>('chain.escrows'),
    counted: await of<{ nonce: Buffer; commission_bps: number }>('market.counted_purchases'),
    passes: await of<{ pass: bigint; verified: number }>('market.standing_passes'),
    standings: await of<{ owner: Buffer; standing: number }>('market.owner_standings'),
    shops: await of<{ merchant_id: Id; standing: number; is_verified: boolean }>('market.shop_standings'),
    ballots: await of<{ ballot_id: Id; nonce: Buffer }>('market.ballots'),
    votes: await of<{
      ballot_id: Id
      review_internal_id: Id
      voter_agent_id: Id
      author_agent_id: Id
      voter_owner: Buffer
      weight: number
      supports: boolean | null
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

/** Money that counts: the spending of `owner` at `shop`, or the sales and the supporters' money of an author there. */
export interface Money {
  spent: { owner: string; shop: Id; amount: number }[]
  authors: { agent: Id; owner: string; shop: Id; sales: number; paid: number; spent: number }[]
}

const dayOfDate = (at: Date) => Math.floor(at.getTime() / 86_400_000)

/** The money of all purchases and votes, faded to a day. `full` is the commission that counts in full. */
export function moneyBy(records: Records, day: number, full: number): Money {
  const { reviews, onChain, agents, escrows, ballots, votes, owners, counted, identities } = records
  const money: Money = { spent: [], authors: [] }
  const recordOf = (internal: Id | undefined) => reviews.find(({ internal_id }) => internal_id === internal)
  const isPublished = (row: Review | undefined) =>
    row !== undefined &&
    row.content !== null &&
    row.author_owner !== null &&
    onChain.some(({ internal_id }) => internal_id === row.internal_id)
  const isFlagged = (agent: Id | null) => agents.some((row) => row.agent_id === agent && row.flagged)
  const faded = (amount: number, at: Date) => amount * 0.5 ** ((day - dayOfDate(at)) / 180)
  const ownerAt = (agent: Id, escrow: Escrow) => {
    const [then] = owners
      .filter((row) => row.agent_id === agent && isBefore(row, row.changed_at, escrow, escrow.deposited_at))
      .sort((a, b) => compare(b.block_number, a.block_number) || b.log_index - a.log_index)
    return then?.to_owner ?? identities.find(({ agent_id }) => agent_id === agent)?.owner
  }
  const author = (row: Review, escrow: Escrow, sales: number, parts: number) => {
    const net = Number(escrow.price - escrow.commission)
    const part = (amount: number) =>
      parts === 0 ? 0 : faded(Math.floor(amount / parts), escrow.deposited_at)
    const same = { agent: row.agent_id, shop: escrow.merchant_id }
    const seller = nameOf(ownerAt(row.agent_id, escrow))
    money.authors.push({
      ...same,
      owner: seller,
      sales: faded(sales, escrow.deposited_at),
      paid: 0,
      spent: 0,
    })
    money.authors.push({
      ...same,
      owner: nameOf(row.author_owner),
      sales: 0,
      paid: part(net),
      spent: part(Math.min(net, 30 * full)),
    })
  }

  for (const escrow of escrows) {
    const at = escrow.deposited_at
    const net = Number(escrow.price - escrow.commission)
    const owner = nameOf(escrow.buyer_owner ?? escrow.payer)
    const shopOwner = ownerAt(escrow.merchant_id, escrow)
    const isOwn = [owner, nameOf(escrow.payer)].includes(nameOf(shopOwner))
    const amount = Math.min(net, 30 * full)
    if (!isOwn && amount > 0) money.spent.push({ owner, shop: escrow.merchant_id, amount: faded(amount, at) })

    const link = recordOf(onChain.find(({ review_id }) => review_id === escrow.review_id)?.internal_id)
    if (!link || !isPublished(link)) continue
    const bps = counted.find(({ nonce }) => nonce.equals(escrow.nonce))?.commission_bps ?? Number.NaN
    const [said] = onChain
      .filter(
        (row) =>
          row.proof_kind === 2 &&
          row.proof_id === escrow.escrow_id &&
          row.agent_id === escrow.buyer_agent_id &&
          productOf(row) === productOf(escrow) &&
          isBefore(escrow, at, row, row.published_at) &&
          isPublished(recordOf(row.internal_id)),
      )
      .sort((a, b) => compare(a.review_id, b.review_id))
    const agrees = !isFlagged(escrow.buyer_agent_id) && recordOf(said?.internal_id)?.opinion_agrees
    author(link, escrow, Math.floor((Number(escrow.price) * bps) / 10_000), agrees ? 2 : 0)
  }

  for (const vote of votes) {
    const ballot = ballots.find(({ ballot_id }) => ballot_id === vote.ballot_id)
    const escrow = escrows.find(({ nonce }) => ballot && nonce.equals(ballot.nonce))
    const review = recordOf(vote.review_internal_id)
    if (!escrow || !review || !isPublished(review) || isFlagged(vote.voter_agent_id)) continue
    if (escrow.buyer_agent_id !== vote.voter_agent_id) continue
    const onBallot = votes.filter(({ ballot_id }) => ballot_id === vote.ballot_id).length
    author(review, escrow, 0, (vote.supports ?? vote.weight > 0) ? 2 * onBallot : 0)
  }
  return money
}

/** The ranks of agents on a day (counted from 1970-01-01). */
export function ranksBy(
  records: Records,
  counted: readonly Counted[],
  money: Money,
  { day, full }: { day: number; full: number },
) {
  const ranks = new Map<Id, { repeat: number | null; one_off: number | null }>()
  const newest = records.passes.toSorted((a, b) => compare(b.pass, a.pass))[0]
  const isOn = newest !== undefined && newest.verified > 0
  for (const { agent_id, owner } of records.identities) {
    const mine = counted.filter((one) => one.agent === agent_id && one.owner === nameOf(owner))
    if (mine.length === 0) continue
    const isFlagged = records.agents.some((row) => row.agent_id === agent_id && row.flagged)
    const standing = records.standings.find((row) => row.owner.equals(owner))?.standing ?? 1_000_000
    const voice = isOn ? fifthPower(standing) : 1
    const own = money.authors.filter((one) => one.agent === agent_id && one.owner === nameOf(owner))
    const sales = own.reduce((sum, one) => sum + one.sales, 0)
    const support = own.reduce((sum, one) => {
      const shop = records.shops.find(({ merchant_id }) => merchant_id === one.shop)
      return sum + (shop?.is_verified ? one.paid : (one.spent * (shop?.standing ?? 0)) / 4e6)
    }, 0)
    const rank = (type: number, gain0: number, loss0: number) => {
      const sum = (isLoss: boolean) =>
        mine
          .filter((one) => one.type === type && (one.kind === 'contradicted') === isLoss)
          .reduce((all, { weight, at }) => all + (weight / 1e6) * 0.5 ** ((day - dayOfDate(at)) / 180), 0)
      const [gain, loss] = [sum(false) * voice, sum(true)]
      if (isFlagged || gain + loss < 0.5) return null
      const [plain, prior] = [(gain0 + gain) / (gain0 + loss0 + gain + loss), gain0 / (gain0 + loss0)]
      if (!isOn || plain <= prior) return plain
      return prior + (plain - prior) * Math.min(1, support / (1.26 * (sales + 10 * full))) ** 2
    }
    ranks.set(agent_id, { repeat: rank(0, 6, 6), one_off: rank(1, 5, 7) })
  }
  return ranks
}

/** Of the standing, from four fifths on in full; each product is rounded down to millionths. */
function fifthPower(standing: number): number {
  const part = Math.min(1e6, Math.floor((standing * 1e6) / 800_000))
  let power = part
  for (const by of [part, 'square', part] as const) {
    power = Math.floor((power * (by === 'square' ? power : by)) / 1e6)
  }
  return power / 1e6
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
