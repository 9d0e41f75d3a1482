// A small market for tests: writes rows as the indexer and the operations do, and computes the expected results
// independently.
import type { Sql } from '@referrer/database'
import { expect } from 'vitest'
import type { Chain } from '../../kit/context.ts'
import { asIndexer } from '../../testing/records.ts'
import { followOnce } from '../following/following.ts'
import { opinionsFollower } from './follow.ts'

export const MERCHANT = 100n
const DAY_MS = 86_400_000

export const account = (number: number): Buffer => Buffer.alloc(20, number)
export const product = (number: number): Buffer => Buffer.alloc(32, number)

/** A buyer's review with its text. */
export interface Said {
  agentId?: bigint
  owner?: number
  merchantId?: bigint
  product?: number
  satisfaction?: number
  size?: number | null
  weight?: number | null
  /** Time of publication, in seconds. */
  at?: number
}

/** A market on one chain of the database. Its clock begins on day 20,000. */
export function smallMarket(sql: Sql, chainId: number) {
  const chain = { config: { chainId } } as Chain
  const clock = { day: 20_000 }
  let [reviewId, escrowId, proofId] = [0, 0, 0]

  /** True: there was something to do. */
  const once = () => followOnce({ sql, clock: () => (clock.day + 0.5) * DAY_MS }, chain, [opinionsFollower])

  async function followAll(): Promise<void> {
    while (await once());
  }

  const list = (number: number, merchantId = MERCHANT) => sql`
    INSERT INTO market.products (chain_id, merchant_id, product_id) VALUES (${chainId}, ${merchantId}, ${product(number)})`

  const enterMerchant = (merchantId = MERCHANT) => sql`
    INSERT INTO market.merchants (chain_id, merchant_id) VALUES (${chainId}, ${merchantId})`

  const enterAgent = (agentId: bigint) => sql`
    INSERT INTO market.agents (chain_id, agent_id) VALUES (${chainId}, ${agentId}) ON CONFLICT DO NOTHING`

  const flag = (agentId: bigint, flagged: boolean) => sql`
    UPDATE market.agents SET flagged = ${flagged} WHERE chain_id = ${chainId} AND agent_id = ${agentId}`

  /** Inserts a review with its text that is not on-chain yet. */
  async function record(said: Said = {}): Promise<bigint> {
    const {
      agentId = 1n,
      owner = 1,
      merchantId = MERCHANT,
      satisfaction = 1,
      size = 1_000_000,
      weight = 500_000,
    } = said
    await enterAgent(agentId)
    const [row] = await sql<[{ internal_id: bigint }]>`
      INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
        cashback_bps, content, satisfaction_score, author_owner, opinion_size, opinion_weight)
      VALUES (${chainId}, ${agentId}, ${merchantId}, ${product(said.product ?? 1)}, '\\x02', 2, ${++proofId}, 0, '{}',
        ${satisfaction}, ${account(owner)}, ${size}, ${weight}) RETURNING internal_id`
    return row.internal_id
  }

  /** Publishes a review at this second, under a new id, unless it is on-chain already. */
  const publish = (internalId: bigint, at = 0) =>
    asIndexer(
      sql,
      (tx) => tx`
        INSERT INTO chain.reviews
          (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash, proof_kind, proof_id, published_at)
        SELECT chain_id, ${++reviewId}, internal_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
          to_timestamp(${1_700_000_000 + at})
        FROM market.reviews WHERE internal_id = ${internalId} ON CONFLICT DO NOTHING`,
    )

  async function say(said: Said = {}): Promise<bigint> {
    const internalId = await record(said)
    await publish(internalId, said.at)
    return internalId
  }

  /** Removes a review from the chain, as a reorganisation does. */
  const drop = (internalId: bigint) =>
    asIndexer(sql, (tx) => tx`DELETE FROM chain.reviews WHERE internal_id = ${internalId}`)

  async function buy(number = 1, merchantId = MERCHANT): Promise<number> {
    const id = ++escrowId
    await asIndexer(
      sql,
      (tx) => tx`
        INSERT INTO chain.escrows (chain_id, contract, escrow_id, reviewer_agent_id, payer, nonce, merchant_id, product_id,
          review_id, price, commission, fee, held_back, cashback, window_end, deposited_at, transaction_hash)
        VALUES (${chainId}, ${account(9)}, ${id}, 1, ${account(8)}, ${Buffer.alloc(32, id)}, ${merchantId}, ${product(number)},
          1, 1000, 100, 10, 40, 10, now(), now(), ${Buffer.alloc(32)})`,
    )
    return id
  }
  const unbuy = (id: number) =>
    asIndexer(sql, (tx) => tx`DELETE FROM chain.escrows WHERE chain_id = ${chainId} AND escrow_id = ${id}`)

  const rankOf = async (number = 1, merchantId = MERCHANT): Promise<number | undefined> =>
    (
      await sql<{ rank: number }[]>`
        SELECT rank FROM market.products
        WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${product(number)}`
    )[0]?.rank

  const merchantRank = async (merchantId = MERCHANT): Promise<number | null | undefined> =>
    (
      await sql<{ rank: number | null }[]>`
        SELECT rank FROM market.merchants WHERE chain_id = ${chainId} AND merchant_id = ${merchantId}`
    )[0]?.rank

  /** The review that states each owner's opinion of a product. The keys are the numbers of both: `1 of 2`. */
  async function speakers(): Promise<Record<string, bigint>> {
    const rows = await sql<{ owner: Buffer; product_id: Buffer; internal_id: bigint }[]>`
      SELECT owner, product_id, internal_id FROM market.opinions WHERE chain_id = ${chainId}`
    return Object.fromEntries(rows.map((row) => [`${row.owner[0]} of ${row.product_id[0]}`, row.internal_id]))
  }

  return {
    ...{
      sql,
      chainId,
      clock,
      once,
      followAll,
      list,
      enterMerchant,
      enterAgent,
      flag,
      record,
      publish,
      say,
      drop,
    },
    ...{ buy, unbuy, rankOf, merchantRank, speakers },
  }
}

export type SmallMarket = ReturnType<typeof smallMarket>

const sum = <T>(rows: T[], part: (row: T) => bigint) => rows.reduce((total, row) => total + part(row), 0n)

type RawReview = {
  internal_id: bigint
  merchant_id: bigint
  product_id: Buffer
  author_owner: Buffer | null
  content: string | null
  satisfaction_score: number | null
  opinion_size: number | null
  opinion_weight: number | null
  flagged: boolean | null
  published_at: Date | null
  review_id: bigint | null
}

/** Expects everything kept about opinions to equal what the records give when recomputed from the beginning. */
export async function expectRight({ sql, chainId }: SmallMarket): Promise<void> {
  const [totals] = await sql<{ weight: bigint; weighted: bigint; day: number; mean: number }[]>`
    SELECT weight, weighted, day, mean FROM market.opinion_totals WHERE chain_id = ${chainId}`
  if (!totals) throw new Error('nothing was followed yet')
  const kept = {
    opinions:
      await sql`SELECT * FROM market.opinions WHERE chain_id = ${chainId} ORDER BY merchant_id, product_id, owner`,
    products: await sql`
      SELECT * FROM market.product_totals WHERE chain_id = ${chainId} ORDER BY merchant_id, product_id`,
    days: await sql`
      SELECT merchant_id, product_id, day::text, opinions, weight, weighted FROM market.opinion_days
      WHERE chain_id = ${chainId} AND (opinions, weight, weighted) <> (0, 0, 0) ORDER BY merchant_id, product_id, day`,
    all: { weight: totals.weight, weighted: totals.weighted },
    sold: await sql`
      SELECT merchant_id, conversions, weighted FROM market.merchant_totals
      WHERE chain_id = ${chainId} AND conversions <> 0 ORDER BY merchant_id`,
    shown: await sql`
      SELECT merchant_id, product_id, rank FROM market.products WHERE chain_id = ${chainId} ORDER BY merchant_id, product_id`,
    merchants:
      await sql`SELECT merchant_id, rank FROM market.merchants WHERE chain_id = ${chainId} ORDER BY merchant_id`,
  }

  const raw = await sql<RawReview[]>`
    SELECT m.*, a.flagged, c.published_at, c.review_id FROM market.reviews AS m
    LEFT JOIN market.agents AS a USING (chain_id, agent_id) LEFT JOIN chain.reviews AS c USING (internal_id)
    WHERE m.chain_id = ${chainId}`
  const isLater = (a: RawReview, b: RawReview) =>
    Number(a.published_at) - Number(b.published_at) || Number(a.review_id) - Number(b.review_id)
  const speaking = new Map<string, RawReview>()
  for (const review of raw.toSorted(isLater)) {
    const isHeard = review.published_at && review.content !== null && review.opinion_size !== null
    if (!isHeard || review.flagged || !review.author_owner) continue
    const [productId, owner] = [review.product_id.toString('hex'), review.author_owner.toString('hex')]
    speaking.set(`${review.merchant_id}/${productId}/${owner}`, review)
  }
  const opinions = [...speaking]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { merchant_id, product_id, internal_id, ...review }]) => ({
      ...{ chain_id: BigInt(chainId), merchant_id, product_id, owner: review.author_owner, internal_id },
      ...{ published_at: review.published_at, review_id: review.review_id },
      satisfaction: Math.round(Number(review.satisfaction_score) * 1e6),
      size: Number(review.opinion_size),
      weight: Number(review.opinion_weight),
    }))

  const escrows = await sql<{ merchant_id: bigint; product_id: Buffer }[]>`
    SELECT merchant_id, product_id FROM chain.escrows WHERE chain_id = ${chainId}`
  const ranked = kept.products.map(({ merchant_id, product_id }) => {
    const isOf = (row: { merchant_id: bigint; product_id: Buffer }) =>
      row.merchant_id === merchant_id && row.product_id.equals(product_id)
    const own = opinions.filter(isOf)
    const weight = sum(own, (one) => BigInt(one.weight))
    const weighted = sum(own, (one) => BigInt(one.weight) * BigInt(one.satisfaction))
    const rank = Math.round(Number(5_000_000n * BigInt(totals.mean) + weighted) / Number(5_000_000n + weight))
    return {
      ...{ chain_id: BigInt(chainId), merchant_id, product_id, opinions: own.length, weight, weighted },
      ...{ conversions: BigInt(escrows.filter(isOf).length), rank, day: totals.day },
    }
  })
  const sold = [...Map.groupBy(ranked, ({ merchant_id }) => merchant_id)].map(([merchant_id, own]) => ({
    merchant_id,
    conversions: sum(own, (row) => row.conversions),
    weighted: sum(own, (row) => row.conversions * BigInt(row.rank)),
  }))
  const days = ranked.flatMap(({ merchant_id, product_id }) => {
    const own = opinions.filter((row) => row.merchant_id === merchant_id && row.product_id.equals(product_id))
    const byDay = Map.groupBy(own, ({ published_at }) => published_at?.toISOString().slice(0, 10) ?? '')
    return [...byDay]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([day, told]) => ({
        ...{ merchant_id, product_id, day, opinions: told.length },
        weight: sum(told, (one) => BigInt(one.weight)),
        weighted: sum(told, (one) => BigInt(one.weight) * BigInt(one.satisfaction)),
      }))
  })
  const workedOut = {
    opinions,
    days,
    products: ranked,
    all: { weight: sum(ranked, (row) => row.weight), weighted: sum(ranked, (row) => row.weighted) },
    sold: sold.filter(({ conversions }) => conversions > 0n),
    shown: kept.shown.map(({ merchant_id, product_id }) => {
      const own = ranked.find((row) => row.merchant_id === merchant_id && row.product_id.equals(product_id))
      return { merchant_id, product_id, rank: own && own.rank / 1e6 }
    }),
    merchants: kept.merchants.map(({ merchant_id }) => {
      const own = sold.find((row) => row.merchant_id === merchant_id)
      const mean = Number(own?.weighted ?? 0n) / Number(own?.conversions ?? 0n) / 1e6
      return { merchant_id, rank: Number.isNaN(mean) ? null : expect.closeTo(mean, 12) }
    }),
  }
  expect(kept).toEqual(workedOut)
}
