import type { Queryable } from '@referrer/database'

/** An escrow, by what tells it from all others of its chain. */
export type EscrowKey = { contract: Buffer; escrow_id: bigint }

export const nameOf = ({ contract, escrow_id }: EscrowKey) => `${contract.toString('hex')}/${escrow_id}`

/**
 * Those of the escrows (by `nameOf`) whose buyer must vote before the buyer review counts: there was a review of the product to read
 * when it was bought, by somebody other than the buyer and the author of the link. Two agents of one owner are one.
 */
export const votesNeeded = (sql: Queryable, chainId: number, escrows: readonly EscrowKey[]) =>
  needing(sql, chainId, escrows, sql``)

/** Those of them whose buyer has not voted yet. A ballot was refused unless it held the vote that was needed then: what comes later needs no other. */
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
        AND c.published_at < e.deposited_at
        AND author.owner <> coalesce(buyer.owner, e.payer)
        AND author.owner IS DISTINCT FROM reviewer.owner
        -- As a value it is looked up row by row; as a join it would be done for the whole table at once.
        AND (SELECT m.content IS NOT NULL FROM market.reviews AS m WHERE m.internal_id = c.internal_id)
    ) ${alsoOf}`
  return new Set(rows.map(nameOf))
}
