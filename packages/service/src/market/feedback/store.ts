import type { Queryable } from '@referrer/database'
import { whenBought, whenPublished } from '../../kit/chain-order.ts'
import type { Page } from '../../machinery/db/page.ts'
import { BY_ESCROW } from '../escrows/buyer-review.ts'

export type FeedbackRow = {
  client: Buffer
  feedback_index: bigint
  /** As a decimal text: an int128 is larger than a double. */
  value: string
  value_decimals: number
  tag1: string
  tag2: string
  endpoint: string
  feedback_uri: string
  feedback_hash: Buffer
  given_at: Date
  is_revoked: boolean
}

/** The feedback about an agent, newest first; of one client where one is named. */
export function listFeedback(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { limit, offset, client }: Page & { client: Buffer | undefined },
): Promise<FeedbackRow[]> {
  return sql<FeedbackRow[]>`
    SELECT client, feedback_index, value::text, value_decimals, tag1, tag2, endpoint, feedback_uri, feedback_hash, given_at,
      is_revoked
    FROM chain.feedback
    WHERE chain_id = ${chainId} AND agent_id = ${agentId} ${client ? sql`AND client = ${client}` : sql``}
    ORDER BY block_number DESC, log_index DESC LIMIT ${limit} OFFSET ${offset}`
}

export type SubjectRow = { is_merchant: boolean; given: bigint; revoked: bigint }

/** How much feedback there was about an agent; undefined when it is not on the chain. */
export async function findSubject(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
): Promise<SubjectRow | undefined> {
  const [row] = await sql<SubjectRow[]>`
    SELECT coalesce(c.given, 0) AS given, coalesce(c.revoked, 0) AS revoked, EXISTS (
      SELECT FROM market.merchants AS m WHERE m.chain_id = i.chain_id AND m.merchant_id = i.agent_id) AS is_merchant
    FROM chain.identities AS i LEFT JOIN chain.feedback_counts AS c USING (chain_id, agent_id)
    WHERE i.chain_id = ${chainId} AND i.agent_id = ${agentId}`
  return row
}

export type ReviewRow = {
  review_id: bigint
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  content: string
  satisfaction_score: number
  published_at: Date
  author_owner: Buffer
  payer: Buffer
  escrow: Buffer
  transaction_hash: Buffer
}

/** Published reviews of purchases, by their ids on the chain. An escrow of a replaced contract may have the same id as a newer one. */
export function findPurchaseReviews(
  sql: Queryable,
  chainId: number,
  reviewIds: readonly bigint[],
): Promise<ReviewRow[]> {
  return sql<ReviewRow[]>`
    SELECT c.review_id, c.agent_id, c.merchant_id, c.product_id, m.content, m.satisfaction_score, c.published_at, m.author_owner,
      e.payer, e.contract AS escrow, e.transaction_hash
    FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
    CROSS JOIN LATERAL (
      SELECT payer, contract, transaction_hash FROM chain.escrows AS e
      WHERE e.chain_id = c.chain_id AND e.escrow_id = c.proof_id AND e.buyer_agent_id = c.agent_id
        AND e.merchant_id = c.merchant_id AND e.product_id = c.product_id
        AND ${whenBought(sql)} <= ${whenPublished(sql)}
      ORDER BY ${whenBought(sql)} DESC LIMIT 1) AS e
    WHERE c.chain_id = ${chainId} AND c.review_id = ANY(${[...reviewIds]}::bigint[]) AND c.proof_kind = ${BY_ESCROW}
      AND m.content IS NOT NULL AND m.author_owner IS NOT NULL`
}
