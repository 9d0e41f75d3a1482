import type { Queryable } from '@referrer/database'

export interface Spender {
  chainId: number
  owner: Buffer
  /** Known to be the owner's, though the records may be a moment behind. */
  agentId: bigint
}

export type Spent = {
  today: bigint
  total: bigint
}

/**
 * What counts against the caps of a wallet: whatever it paid, and whatever was bought by agents that it owns now, whoever paid. Reads the
 * kept totals of those, and the purchases since midnight alone.
 */
export async function spentBy(
  sql: Queryable,
  { chainId, owner, agentId }: Spender,
  midnight: Date,
): Promise<Spent> {
  const [row] = await sql<Spent[]>`
    WITH own AS (
      SELECT agent_id FROM chain.identities WHERE chain_id = ${chainId} AND owner = ${owner}
      UNION SELECT ${agentId}::bigint
    )
    SELECT
      (SELECT coalesce(sum(price), 0) FROM chain.escrows
       WHERE chain_id = ${chainId} AND payer = ${owner} AND deposited_at >= ${midnight})
      + (SELECT coalesce(sum(e.price), 0) FROM own JOIN chain.escrows AS e ON e.buyer_agent_id = own.agent_id
         WHERE e.chain_id = ${chainId} AND e.deposited_at >= ${midnight} AND e.payer <> ${owner}) AS today,
      (SELECT coalesce(sum(spent), 0) FROM market.spending WHERE chain_id = ${chainId} AND payer = ${owner})
      + (SELECT coalesce(sum(s.spent), 0) FROM own JOIN market.spending AS s ON s.buyer_agent_id = own.agent_id
         WHERE s.chain_id = ${chainId} AND s.payer <> ${owner}) AS total`
  return row ?? { today: 0n, total: 0n }
}
