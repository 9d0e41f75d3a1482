import type { Queryable } from '@referrer/database'

/** An agent of a chain; it need not exist. */
export type AgentKey = { chainId: number; agentId: bigint }

/** Null: no agent is ranked. */
export type MeansRow = { mean_repeat: number | null; mean_one_off: number | null }

/** Null: not computed yet. */
export type RankRow = MeansRow & { flagged: boolean; repeat: number | null; one_off: number | null }

const means = (sql: Queryable) => sql`
  (s.repeat_sum / nullif(s.repeat_count, 0))::float8 AS mean_repeat,
  (s.one_off_sum / nullif(s.one_off_count, 0))::float8 AS mean_one_off`

/** The ranks of agents and the means of their chains, in the order of the keys. */
export function ranksOf(sql: Queryable, agents: readonly AgentKey[]): Promise<RankRow[]> {
  return sql<RankRow[]>`
    SELECT coalesce(a.flagged, false) AS flagged, r.repeat, r.one_off, ${means(sql)}
    FROM unnest(${agents.map(({ chainId }) => chainId)}::bigint[], ${agents.map(({ agentId }) => agentId)}::bigint[])
      WITH ORDINALITY AS k (chain_id, agent_id, at)
    LEFT JOIN market.agents AS a USING (chain_id, agent_id)
    LEFT JOIN market.review_ranks AS r USING (chain_id, agent_id)
    LEFT JOIN market.rank_sums AS s USING (chain_id)
    ORDER BY k.at`
}

/** Over the ranked agents of each chain, in the order of the chains. */
export function meanRanksOf(sql: Queryable, chainIds: readonly number[]): Promise<MeansRow[]> {
  return sql<MeansRow[]>`
    SELECT ${means(sql)}
    FROM unnest(${[...chainIds]}::bigint[]) WITH ORDINALITY AS k (chain_id, at)
    LEFT JOIN market.rank_sums AS s USING (chain_id)
    ORDER BY k.at`
}
