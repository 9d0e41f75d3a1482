import type { Queryable } from '@referrer/database'

/** What an agent pledges to buyers, 0 when it never said, and how many votes it has cast. */
export type StanceRow = { cashback_bps: number; votes_cast: bigint }

export async function stanceOf(sql: Queryable, chainId: number, agentId: bigint): Promise<StanceRow> {
  const [row] = await sql<[StanceRow]>`
    SELECT
      coalesce((SELECT bps FROM market.cashback_rates WHERE chain_id = ${chainId} AND agent_id = ${agentId}), 0) AS cashback_bps,
      (SELECT count(*) FROM market.votes WHERE chain_id = ${chainId} AND voter_agent_id = ${agentId}) AS votes_cast`
  return row
}
