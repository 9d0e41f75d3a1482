import type { Queryable } from '@referrer/database'
import { countOf } from '../db/counts.ts'
import type { Page } from '../db/page.ts'

/** An agent is in the records and on the chain. */
export type AgentRow = {
  agent_id: bigint
  owner: Buffer
  recorded_at: Date
  /** Null: it never registered itself. */
  registered_at: Date | null
  uri: string
  payment_wallet: Buffer | null
  flagged: boolean
}

const columns = (sql: Queryable) => sql`
  a.agent_id, i.owner, a.recorded_at, a.registered_at, a.uri, a.payment_wallet, a.flagged`

/** By ascending id. */
export function listAgents(sql: Queryable, chainId: number, { limit, offset }: Page): Promise<AgentRow[]> {
  // The page is found in an index alone, so that what is skipped is not read; its rows are then fetched one by one.
  return sql<AgentRow[]>`
    WITH page AS (
      SELECT agent_id FROM chain.identities WHERE chain_id = ${chainId}
      ORDER BY agent_id LIMIT ${limit} OFFSET ${offset}
    )
    SELECT agent.* FROM page, LATERAL (
      SELECT ${columns(sql)} FROM chain.identities AS i JOIN market.agents AS a USING (chain_id, agent_id)
      WHERE i.chain_id = ${chainId} AND i.agent_id = page.agent_id LIMIT 1) AS agent
    ORDER BY page.agent_id`
}

/** What is on the chain is in the records too. */
export const countAgents = (sql: Queryable, chainId: number) => countOf(sql, chainId, 'agents')

/** All of them, by ascending id. */
export function agentsOfOwner(sql: Queryable, chainId: number, owner: Buffer): Promise<AgentRow[]> {
  return sql<AgentRow[]>`
    SELECT ${columns(sql)} FROM chain.identities AS i JOIN market.agents AS a USING (chain_id, agent_id)
    WHERE i.chain_id = ${chainId} AND i.owner = ${owner} ORDER BY i.agent_id`
}

export async function findAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
): Promise<AgentRow | undefined> {
  const [row] = await sql<AgentRow[]>`
    SELECT ${columns(sql)} FROM market.agents AS a JOIN chain.identities AS i USING (chain_id, agent_id)
    WHERE a.chain_id = ${chainId} AND a.agent_id = ${agentId}`
  return row
}
