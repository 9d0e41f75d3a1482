import type { Queryable } from '@referrer/database'
import { whenBought, whenPublished } from '../../kit/chain-order.ts'

/** Unique key of an escrow within its chain. */
export type EscrowKey = { contract: Buffer; escrow_id: bigint }

export const nameOf = ({ contract, escrow_id }: EscrowKey) => `${contract.toString('hex')}/${escrow_id}`

/**
 * The escrows (as `nameOf` keys) whose buyer must vote before the buyer's review counts: at the time of purchase the product had a review
 * by somebody other than the buyer and the author of the link. Agents of the same owner count as one.
 */
export const votesNeeded = (sql: Queryable, chainId: number, escrows: readonly EscrowKey[]) =>
  needing(sql, chainId, escrows, sql``)

/** The escrows of `votesNeeded` whose buyer has not voted yet. Any ballot is enough, because one without the needed vote was refused. */
export const votesMissing = (sql: Queryable, chainId: number, escrows: readonly EscrowKey[]) =>
  needing(
    sql,
    chainId,
    escrows,
    sql`AND NOT EXISTS (
      SELECT FROM market.ballots AS b
      WHERE b.chain_id = ${chainId} AND b.payer = e.payer AND b.nonce = e.nonce AND b.contract = e.contract)`,
  )

async function needing(
  sql: Queryable,
  chainId: number,
  escrows: readonly EscrowKey[],
  alsoOf: ReturnType<Queryable>,
): Promise<Set<string>> {
  if (escrows.length === 0) return new Set()
  const rows = await sql<EscrowKey[]>`
    SELECT e.contract, e.escrow_id
    FROM unnest(${escrows.map(({ contract }) => contract)}::bytea[], ${escrows.map(({ escrow_id }) => escrow_id)}::bigint[])
      AS asked (contract, escrow_id)
    JOIN chain.escrows AS e
      ON e.chain_id = ${chainId} AND e.escrow_id = asked.escrow_id AND e.contract = asked.contract
    LEFT JOIN chain.identities AS buyer ON buyer.chain_id = ${chainId} AND buyer.agent_id = e.buyer_agent_id
    LEFT JOIN chain.identities AS reviewer ON reviewer.chain_id = ${chainId} AND reviewer.agent_id = e.reviewer_agent_id
    WHERE EXISTS (
      SELECT FROM chain.reviews AS c
      JOIN chain.identities AS author ON author.chain_id = ${chainId} AND author.agent_id = c.agent_id
      WHERE c.chain_id = ${chainId} AND c.merchant_id = e.merchant_id AND c.product_id = e.product_id
        AND ${whenPublished(sql)} < ${whenBought(sql)}
        AND author.owner <> coalesce(buyer.owner, e.payer)
        AND author.owner IS DISTINCT FROM reviewer.owner
        -- A scalar subquery, because the planner would turn a join into a scan of the whole table.
        AND (SELECT m.content IS NOT NULL FROM market.reviews AS m WHERE m.internal_id = c.internal_id)
    ) ${alsoOf}`
  return new Set(rows.map(nameOf))
}
