// A test market in which buyers review products: writes rows as the indexer and the operations do.
import type { Sql } from '@referrer/database'
import type { Chain, Context } from '../../kit/context.ts'
import { asIndexer } from '../../testing/records.ts'
import { followOnce } from '../following/following.ts'
import { opinionsFollower } from '../opinions/follow.ts'
import { account, bytes32 } from '../ranks/testing.ts'
import { oracleFollower } from './follow.ts'

export const MERCHANT = 900n
const MERCHANTS_OWNER = 900
/** The time of everything that happens. */
const NOW = Date.parse('2026-01-01T12:00:00Z')

export interface Said {
  /** The author's owner; the agent has the same number. */
  owner: number
  rating: number
  size?: number
  product?: number
  /** Whether it is a buyer's review of its purchase. */
  isOpinion?: boolean
}

export type Shown = {
  outcome: string
  satisfaction: number
  others: number
  others_weight: bigint
  others_weighted: bigint
  size: number
  comparison_id: bigint | null
}

/** A market on one chain of the database, with one merchant. */
export async function talkingMarket(sql: Sql, chainId: number) {
  const chain = { config: { chainId } } as Chain
  const context = { config: {}, sql, clock: () => NOW } as Context
  const followers = [opinionsFollower, oracleFollower(context)]
  let numbers = 0

  await asIndexer(
    sql,
    (tx) => tx`
      INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
      VALUES (${chainId}, ${MERCHANT}, ${account(MERCHANTS_OWNER)}, ${account(0)}, '', now())`,
  )

  const market = {
    chain,
    merchantsOwner: MERCHANTS_OWNER,

    /** Publishes a review. Returns its internal id. */
    async say({ owner, rating, size = 1_000_000, product = 1, isOpinion = true }: Said): Promise<bigint> {
      numbers += 1
      await sql`
        INSERT INTO market.agents (chain_id, agent_id) VALUES (${chainId}, ${owner}) ON CONFLICT DO NOTHING`
      const [row] = await sql<[{ internal_id: bigint }]>`
        INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps,
          content, satisfaction_score, author_owner, opinion_size, opinion_weight)
        VALUES (${chainId}, ${owner}, ${MERCHANT}, ${bytes32(product)}, ${bytes32(numbers)}, ${isOpinion ? 2 : 1}, ${numbers}, 0,
          '{}', ${(rating - 1) / 4}, ${account(owner)}, ${isOpinion ? size : null}, ${isOpinion ? size : null})
        RETURNING internal_id`
      await market.publish(row.internal_id)
      return row.internal_id
    },

    async publish(internalId: bigint): Promise<void> {
      numbers += 1
      await asIndexer(
        sql,
        (tx) => tx`
          INSERT INTO chain.reviews
            (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash, proof_kind, proof_id, published_at)
          SELECT chain_id, ${numbers}, internal_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
            to_timestamp(${1_700_000_000 + numbers})
          FROM market.reviews WHERE internal_id = ${internalId}`,
      )
    },

    /** Removes a review from the chain, as a reorganisation does. */
    async drop(internalId: bigint): Promise<void> {
      await asIndexer(sql, (tx) => tx`DELETE FROM chain.reviews WHERE internal_id = ${internalId}`)
    },

    async rate(internalId: bigint, rating: number): Promise<void> {
      await sql`UPDATE market.reviews SET satisfaction_score = ${(rating - 1) / 4} WHERE internal_id = ${internalId}`
    },

    async flag(owner: number, flagged: boolean): Promise<void> {
      await sql`UPDATE market.agents SET flagged = ${flagged} WHERE chain_id = ${chainId} AND agent_id = ${owner}`
    },

    async setOutcome(internalId: bigint, outcome: string): Promise<void> {
      await sql`UPDATE market.reviews SET comparison_outcome = ${outcome} WHERE internal_id = ${internalId}`
    },

    followOnce: () => followOnce(context, chain, followers),

    /** Follows until nothing is left to do. */
    async follow(): Promise<void> {
      while (await market.followOnce()) {}
    },

    async outcomeOf(internalId: bigint): Promise<string | undefined> {
      const [row] = await sql<{ comparison_outcome: string }[]>`
        SELECT comparison_outcome FROM market.reviews WHERE internal_id = ${internalId}`
      return row?.comparison_outcome
    },

    /** Oldest first. */
    findingsOf: (internalId: bigint) => sql<Shown[]>`
      SELECT outcome, satisfaction, others, others_weight, others_weighted, size, comparison_id FROM market.findings
      WHERE internal_id = ${internalId} ORDER BY finding_id`,

    /** The number of opinions in each comparison, and whether it is void; oldest first. */
    async comparisons(product = 1): Promise<string[]> {
      const rows = await sql<{ opinions: number; voided_at: Date | null }[]>`
        SELECT opinions, voided_at FROM market.comparisons
        WHERE chain_id = ${chainId} AND product_id = ${bytes32(product)} ORDER BY comparison_id`
      return rows.map(({ opinions, voided_at }) => (voided_at ? `${opinions}, void` : `${opinions}`))
    },
  }
  return market
}

export type TalkingMarket = Awaited<ReturnType<typeof talkingMarket>>
