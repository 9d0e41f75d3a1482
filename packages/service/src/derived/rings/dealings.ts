// Reads what owners did with each other, in columns, for the search for rings. The database counts, and leaves out
// whoever cannot be in a ring.
import type { Sql, Transaction } from '@referrer/database'
import { type Dealings, inflationOf, VOTES_INSIDE, VOTES_OF_MEMBER } from '@referrer/ranking'
import { Columns } from './columns.ts'

/** Votes that are older are not looked at: they weigh a quarter or less. */
const DAYS = 360
/** So many owners, and pairs of voter and author at a shop, are looked at: some hundred MB of memory. */
const MOST_OWNERS = 1_000_000
const MOST_VOTES = 2_000_000
const ROWS_AT_ONCE = 10_000

export interface Read {
  dealings: Dealings
  /** What the numbers of the columns stand for. */
  ownerOf(number: number): Buffer
  shopOf(number: number): bigint
  /** False: there was more than can be looked at. */
  isComplete: boolean
}

export interface Asked {
  chainId: number
  /** The day of the standings, for the value of what was spent. */
  day: number
  now: Date
  signal: AbortSignal
}

/** Reads in one snapshot, so that numbers and sums agree. */
export const readDealings = (sql: Sql, asked: Asked): Promise<Read> =>
  sql.begin('isolation level repeatable read', async (tx): Promise<Read> => {
    // A year of votes takes longer than the statement time-out.
    await tx`SELECT set_config('statement_timeout', '0', true)`
    const allVotes = await countVotes(tx, asked)
    await chooseOwners(tx)
    const owners = await readOwners(tx, asked)
    const shops = new Shops()
    const votes = await readVotes(tx, asked, shops)
    const { spending, spent } = await readSpending(tx, asked, shops, owners.cast.length)
    return {
      dealings: {
        owners: { standing: owners.standing, cast: owners.cast, got: owners.got, spent },
        allVotes,
        votes,
        spending,
      },
      ownerOf: (number) => owners.accounts.subarray(20 * number, 20 * number + 20),
      shopOf: (number) => BigInt(shops.ids[number] as number),
      isComplete: owners.cast.length < MOST_OWNERS && votes.count.length < MOST_VOTES,
    }
  }) as Promise<Read>

/** Gives shops numbers from 0 on. */
class Shops {
  readonly ids: number[] = []
  readonly #numbers = new Map<number, number>()

  numberOf(id: number): number {
    const number = this.#numbers.get(id) ?? this.ids.push(id) - 1
    this.#numbers.set(id, number)
    return number
  }
}

const isVerified = (tx: Transaction, chainId: number, merchantId: ReturnType<Transaction>) => tx`
  EXISTS (SELECT FROM market.shop_standings AS shop
    WHERE shop.chain_id = ${chainId} AND shop.merchant_id = ${merchantId} AND shop.is_verified)`

/** Counts the votes of each owner for each other one at each shop; returns how many there are. */
async function countVotes(tx: Transaction, { chainId, now }: Asked): Promise<number> {
  const since = new Date(now.getTime() - DAYS * 86_400_000)
  await tx`
    CREATE TEMPORARY TABLE votes_cast ON COMMIT DROP AS
    SELECT counted.*, NOT ${isVerified(tx, chainId, tx`counted.merchant_id`)} AS is_near FROM (
      SELECT v.voter_owner AS voter, r.author_owner AS author, r.merchant_id, count(*)::integer AS votes,
        min(v.cast_at) AS first_at, max(v.cast_at) AS last_at
      FROM market.votes AS v JOIN market.reviews AS r ON r.internal_id = v.review_internal_id
      WHERE v.chain_id = ${chainId} AND v.cast_at > ${since} AND v.qualifies AND v.voter_owner <> r.author_owner
      GROUP BY 1, 2, 3) AS counted`
  await tx`ANALYZE votes_cast`
  const [row] = await tx<{ all: number }[]>`SELECT coalesce(sum(votes), 0)::float8 AS all FROM votes_cast`
  return row?.all ?? 0
}

/** Owners who cast enough of their votes at shops that are not verified: nobody else can be in a ring. */
async function chooseOwners(tx: Transaction): Promise<void> {
  await tx`
    CREATE TEMPORARY TABLE suspects ON COMMIT DROP AS
    SELECT (row_number() OVER (ORDER BY owner) - 1)::integer AS number, * FROM (
      SELECT owner, sum(cast_all)::integer AS cast_all, sum(got_all)::integer AS got_all FROM (
        SELECT voter AS owner, votes AS cast_all, 0 AS got_all, CASE WHEN is_near THEN votes ELSE 0 END AS cast_near, 0 AS got_near
        FROM votes_cast
        UNION ALL
        SELECT author, 0, votes, 0, CASE WHEN is_near THEN votes ELSE 0 END FROM votes_cast) AS each
      GROUP BY owner
      HAVING sum(cast_near) + sum(got_near) >= ${VOTES_OF_MEMBER} AND CASE WHEN sum(cast_all) > 0
        THEN 100 * sum(cast_near) >= ${VOTES_INSIDE} * sum(cast_all) ELSE 100 * sum(got_near) >= ${VOTES_INSIDE} * sum(got_all) END
      ORDER BY sum(cast_near) + sum(got_near) DESC, owner LIMIT ${MOST_OWNERS}) AS chosen`
  await tx`CREATE UNIQUE INDEX ON suspects (owner)`
  await tx`ANALYZE suspects`
}

async function readOwners(tx: Transaction, { chainId, signal }: Asked) {
  const [row] = await tx<{ count: number }[]>`SELECT count(*)::integer AS count FROM suspects`
  const count = row?.count ?? 0
  const [standing, cast, got] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)]
  const accounts = Buffer.alloc(20 * count)
  const rows = tx<
    { number: number; owner: Buffer; cast_all: number; got_all: number; standing: number | null }[]
  >`
    SELECT s.number, s.owner, s.cast_all, s.got_all, o.standing FROM suspects AS s
    LEFT JOIN market.owner_standings AS o ON o.chain_id = ${chainId} AND o.owner = s.owner`
  for await (const page of rows.cursor(ROWS_AT_ONCE)) {
    signal.throwIfAborted()
    for (const { number, owner, cast_all, got_all, standing: has } of page) {
      owner.copy(accounts, 20 * number)
      standing[number] = has ?? 0
      cast[number] = cast_all
      got[number] = got_all
    }
  }
  return { standing, cast, got, accounts }
}

type VoteRow = { voter: number; author: number; shop: number; votes: number; first: number; last: number }

async function readVotes(tx: Transaction, { signal }: Asked, shops: Shops): Promise<Dealings['votes']> {
  const columns = new Columns(6)
  const rows = tx<VoteRow[]>`
    SELECT a.number AS voter, b.number AS author, v.merchant_id::float8 AS shop, v.votes,
      floor(extract(epoch FROM v.first_at))::float8 AS first, floor(extract(epoch FROM v.last_at))::float8 AS last
    FROM votes_cast AS v JOIN suspects AS a ON a.owner = v.voter JOIN suspects AS b ON b.owner = v.author
    WHERE v.is_near ORDER BY a.number, b.number, v.merchant_id LIMIT ${MOST_VOTES}`
  for await (const page of rows.cursor(ROWS_AT_ONCE)) {
    signal.throwIfAborted()
    for (const { voter, author, shop, votes, first, last } of page) {
      columns.push(voter, author, shops.numberOf(shop), votes, first, last)
    }
  }
  const [voter, author, shop, count] = [0, 1, 2, 3].map((column) => Int32Array.from(columns.at(column)))
  return {
    voter: voter as Int32Array,
    author: author as Int32Array,
    shop: shop as Int32Array,
    count: count as Int32Array,
    first: columns.at(4),
    last: columns.at(5),
  }
}

/** The largest amount that a double holds exactly. */
const MOST_SPENT = Number.MAX_SAFE_INTEGER

async function readSpending(
  tx: Transaction,
  { chainId, day, signal }: Asked,
  shops: Shops,
  owners: number,
): Promise<Pick<Dealings, 'spending'> & { spent: Float64Array }> {
  const spent = new Float64Array(owners)
  const columns = new Columns(3)
  const rows = tx<{ number: number; shop: number; amount: number; is_verified: boolean }[]>`
    SELECT s.number, p.merchant_id::float8 AS shop, ${isVerified(tx, chainId, tx`p.merchant_id`)} AS is_verified,
      least(div(p.spent, ${inflationOf(day)}::numeric), ${MOST_SPENT})::float8 AS amount
    FROM suspects AS s JOIN market.spent_at_shops AS p ON p.chain_id = ${chainId} AND p.owner = s.owner`
  for await (const page of rows.cursor(ROWS_AT_ONCE)) {
    signal.throwIfAborted()
    for (const { number, shop, amount, is_verified } of page) {
      spent[number] = (spent[number] as number) + amount
      if (!is_verified) columns.push(number, shops.numberOf(shop), amount)
    }
  }
  return {
    spending: {
      owner: Int32Array.from(columns.at(0)),
      shop: Int32Array.from(columns.at(1)),
      spent: columns.at(2),
    },
    spent,
  }
}
