import type { Queryable } from '@referrer/database'

export interface Rate {
  agentId: bigint
  bps: number
  at: Date
}

/** Sets the cashback rate for reviews that are stored from now on. */
export async function writeRate(sql: Queryable, chainId: number, { agentId, bps, at }: Rate): Promise<void> {
  await sql`
    INSERT INTO market.cashback_rates (chain_id, agent_id, bps, set_at) VALUES (${chainId}, ${agentId}, ${bps}, ${at})
    ON CONFLICT (chain_id, agent_id) DO UPDATE SET bps = excluded.bps, set_at = excluded.set_at`
}
