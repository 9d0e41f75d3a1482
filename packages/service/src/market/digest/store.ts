import type { Queryable } from '@referrer/database'

/** The cashback rate of an agent (0 when it has set none), and the number of votes that it has cast. */
export type StanceRow = { cashback_bps: number; votes_cast: bigint }

export async function stanceOf(sql: Queryable, chainId: number, agentId: bigint): Promise<StanceRow> {
  const [row] = await sql<[StanceRow]>`
    SELECT
      coalesce((SELECT bps FROM market.cashback_rates WHERE chain_id = ${chainId} AND agent_id = ${agentId}), 0) AS cashback_bps,
      (SELECT count(*) FROM market.votes WHERE chain_id = ${chainId} AND voter_agent_id = ${agentId}) AS votes_cast`
  return row
}
