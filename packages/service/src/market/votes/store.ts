import type { Queryable } from '@referrer/database'
import { whenBought } from '../../kit/chain-order.ts'

/** A purchase, with the data for the weight of its buyer's votes. */
export type VotablePurchase = {
  contract: Buffer
  escrow_id: bigint
  payer: Buffer
  nonce: Buffer
  /** Null when the buyer is a wallet without an agent. */
  buyer_agent_id: bigint | null
  merchant_id: bigint
  product_id: Buffer
  /** On-chain id of the review whose ref link was used. */
  review_id: bigint
  commission: bigint
  /** 0 is repeat, 1 is one-off. */
  product_type: number
  /** Null when it is not on the chain. */
  merchant_owner: Buffer | null
  is_buyer_flagged: boolean
  /** The buyer's rank for this type of product; null when it is not computed yet. */
  buyer_rank: number | null
  has_voted: boolean
}

/** The purchases with this escrow id, newest first. Each deployment of the escrow contract counts from 1, so there can be several. */
export function findVotable(sql: Queryable, chainId: number, escrowId: bigint): Promise<VotablePurchase[]> {
  return sql<VotablePurchase[]>`
    SELECT e.contract, e.escrow_id, e.payer, e.nonce, e.buyer_agent_id, e.merchant_id, e.product_id, e.review_id, e.commission,
      p.product_type, merchant.owner AS merchant_owner, coalesce(a.flagged, false) AS is_buyer_flagged,
      CASE p.product_type WHEN 0 THEN r.repeat ELSE r.one_off END AS buyer_rank,
      EXISTS (
        SELECT FROM market.ballots AS b
        WHERE b.chain_id = e.chain_id AND b.payer = e.payer AND b.nonce = e.nonce AND b.contract = e.contract) AS has_voted
    FROM chain.escrows AS e
    JOIN chain.products AS p USING (chain_id, merchant_id, product_id)
    LEFT JOIN chain.identities AS merchant ON merchant.chain_id = e.chain_id AND merchant.agent_id = e.merchant_id
    LEFT JOIN market.agents AS a ON a.chain_id = e.chain_id AND a.agent_id = e.buyer_agent_id
    LEFT JOIN market.review_ranks AS r ON r.chain_id = e.chain_id AND r.agent_id = e.buyer_agent_id
    WHERE e.chain_id = ${chainId} AND e.escrow_id = ${escrowId}
    ORDER BY ${whenBought(sql)} DESC`
}

/** The data that decides whether a review can be voted for. */
export type VotableReview = {
  internal_id: bigint
  /** Null when it is not on the chain. */
  review_id: bigint | null
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  has_text: boolean
}

export function findVotableReviews(
  sql: Queryable,
  chainId: number,
  internalIds: readonly bigint[],
): Promise<VotableReview[]> {
  return sql<VotableReview[]>`
    SELECT m.internal_id, c.review_id, m.agent_id, m.merchant_id, m.product_id, m.content IS NOT NULL AS has_text
    FROM market.reviews AS m LEFT JOIN chain.reviews AS c USING (internal_id)
    WHERE m.chain_id = ${chainId} AND m.internal_id = ANY(${[...internalIds]}::bigint[])`
}

export interface NewVote {
  internalId: bigint
  reasoning: string
  authorAgentId: bigint
  qualifies: boolean
  /** Weight in millionths. */
  weight: number
  /** Whether the money of the purchase speaks for the author. */
  supports: boolean
}

export interface NewBallot {
  purchase: Pick<VotablePurchase, 'contract' | 'escrow_id' | 'payer' | 'nonce'>
  voterAgentId: bigint
  voterOwner: Buffer
  /** In millionths; null: see the columns. */
  voterStanding: number | null
  shopStanding: number | null
  votesHash: Buffer
  commitmentNonce: Buffer
  expiry: number
  signature: Buffer
  at: Date
  /** The votes in the order in which they were sent. */
  votes: readonly NewVote[]
}

/** Stores all votes of a purchase; returns false, and stores nothing, when the purchase has votes already. */
export async function insertBallot(sql: Queryable, chainId: number, ballot: NewBallot): Promise<boolean> {
  const { purchase, voterAgentId, votes, at } = ballot
  const { count } = await sql`
    WITH ballot AS (
      INSERT INTO market.ballots
        (chain_id, contract, payer, nonce, escrow_id, voter_agent_id, votes_hash, commitment_nonce, expiry, signature, cast_at)
      VALUES (${chainId}, ${purchase.contract}, ${purchase.payer}, ${purchase.nonce}, ${purchase.escrow_id}, ${voterAgentId},
        ${ballot.votesHash}, ${ballot.commitmentNonce}, ${ballot.expiry}, ${ballot.signature}, ${at})
      ON CONFLICT (chain_id, payer, nonce, contract) DO NOTHING
      RETURNING ballot_id
    )
    INSERT INTO market.votes (ballot_id, review_internal_id, position, reasoning, chain_id, voter_agent_id, author_agent_id,
      voter_owner, qualifies, weight, supports, voter_standing, shop_standing, cast_at)
    SELECT b.ballot_id, v.review, v.position, v.reasoning, ${chainId}, ${voterAgentId}, v.author, ${ballot.voterOwner},
      v.qualifies, v.weight, v.supports, ${ballot.voterStanding}::integer, ${ballot.shopStanding}::integer, ${at}
    FROM ballot AS b, unnest(
      ${votes.map(({ internalId }) => internalId)}::bigint[],
      ${votes.map(({ reasoning }) => reasoning)}::text[],
      ${votes.map(({ authorAgentId }) => authorAgentId)}::bigint[],
      ${votes.map(({ qualifies }) => qualifies)}::boolean[],
      ${votes.map(({ weight }) => weight)}::integer[],
      ${votes.map(({ supports }) => supports)}::boolean[]
    ) WITH ORDINALITY AS v (review, reasoning, author, qualifies, weight, supports, position)`
  return count > 0
}
