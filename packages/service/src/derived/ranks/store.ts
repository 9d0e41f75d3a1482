import type { Queryable, Transaction } from '@referrer/database'
import { deflate, type ProductType, rankOf } from '@referrer/ranking'
import type { AgentKey } from '../../kit/keys.ts'
import type { Kind } from './evidence.ts'

/** Null: no agent of the chain has a rank. */
export type MeansRow = { mean_repeat: number | null; mean_one_off: number | null }

/** Null: the rank is not computed yet. */
export type RankRow = MeansRow & { flagged: boolean; repeat: number | null; one_off: number | null }

const means = (sql: Queryable) => sql`
  (s.repeat_sum / nullif(s.repeat_count, 0))::float8 AS mean_repeat,
  (s.one_off_sum / nullif(s.one_off_count, 0))::float8 AS mean_one_off`

/** The ranks of agents and the means of their chains, in the order of `agents`. */
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

/** The means over the ranked agents of each chain, in the order of `chainIds`. */
export function meanRanksOf(sql: Queryable, chainIds: readonly number[]): Promise<MeansRow[]> {
  return sql<MeansRow[]>`
    SELECT ${means(sql)}
    FROM unnest(${[...chainIds]}::bigint[]) WITH ORDINALITY AS k (chain_id, at)
    LEFT JOIN market.rank_sums AS s USING (chain_id)
    ORDER BY k.at`
}

/** The totals of an agent under its present owner. */
export type Sums = { type: number; gain: bigint; loss: bigint; pieces: number }

/** `day` is the day of the rank; null: the agent has no rank. */
export async function sumsOf(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
): Promise<{ day: number | null; sums: Sums[] }> {
  const rows = await sql<(Sums & { day: number | null })[]>`
    SELECT t.product_type AS type, t.gain, t.loss, t.pieces, r.day
    FROM chain.identities AS i JOIN market.rank_totals AS t USING (chain_id, agent_id, owner)
    LEFT JOIN market.review_ranks AS r USING (chain_id, agent_id)
    WHERE i.chain_id = ${chainId} AND i.agent_id = ${agentId}`
  return { day: rows[0]?.day ?? null, sums: rows }
}

export type Evidence = {
  type: number
  kind: Kind
  review_id: bigint
  voter_agent_id: bigint | null
  weight: number
  happened_at: Date
  day: number
}

/** The evidence of an agent under its present owner, newest first within each product type. */
export function evidenceOf(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { limit, offset }: { limit: number; offset: number },
): Promise<Evidence[]> {
  return sql<Evidence[]>`
    SELECT t.type, x.kind, x.review_id, x.voter_agent_id, x.weight, x.happened_at, x.day
    FROM chain.identities AS i CROSS JOIN (VALUES (0), (1)) AS t (type)
    CROSS JOIN LATERAL (
      SELECT *, review_internal_id AS review_id FROM market.rank_evidence
      WHERE chain_id = ${chainId} AND agent_id = ${agentId} AND owner = i.owner AND product_type = t.type
      ORDER BY happened_at DESC, review_internal_id DESC, voter_owner LIMIT ${limit} OFFSET ${offset}) AS x
    WHERE i.chain_id = ${chainId} AND i.agent_id = ${agentId}
    ORDER BY t.type, x.happened_at DESC, x.review_id DESC, x.voter_owner`
}

/** Agents whose ranks were computed for an earlier day. */
export async function agentsRankedBefore(
  sql: Queryable,
  chainId: number,
  day: number,
  most: number,
): Promise<bigint[]> {
  const rows = await sql<{ agent_id: bigint }[]>`
    SELECT agent_id FROM market.review_ranks WHERE chain_id = ${chainId} AND day < ${day} ORDER BY day, agent_id LIMIT ${most}`
  return rows.map(({ agent_id }) => agent_id)
}

type Standing = { agent_id: bigint; flagged: boolean; ranked_on: number; sums: (bigint | null)[] }

/**
 * Computes ranks from the evidence under the agents' present owners, for today. An agent already ranked for a later
 * day keeps that day, so that a replica whose clock is behind changes nothing. Agents without evidence lose their
 * row.
 */
export async function rankAgents(
  tx: Transaction,
  chainId: number,
  agentIds: readonly bigint[],
  today: number,
): Promise<void> {
  if (agentIds.length === 0) return
  const ids = [...agentIds]
  const standings = await tx<Standing[]>`
    SELECT k.agent_id, coalesce(a.flagged, false) AS flagged, coalesce(r.day, 0) AS ranked_on,
      ARRAY[repeat.gain, repeat.loss, one_off.gain, one_off.loss] AS sums
    FROM unnest(${ids}::bigint[]) AS k (agent_id)
    JOIN chain.identities AS i ON i.chain_id = ${chainId} AND i.agent_id = k.agent_id
    LEFT JOIN market.agents AS a ON a.chain_id = ${chainId} AND a.agent_id = k.agent_id
    LEFT JOIN market.review_ranks AS r ON r.chain_id = ${chainId} AND r.agent_id = k.agent_id
    LEFT JOIN market.rank_totals AS repeat
      ON repeat.chain_id = ${chainId} AND repeat.agent_id = k.agent_id AND repeat.owner = i.owner AND repeat.product_type = 0
    LEFT JOIN market.rank_totals AS one_off
      ON one_off.chain_id = ${chainId} AND one_off.agent_id = k.agent_id AND one_off.owner = i.owner AND one_off.product_type = 1
    WHERE repeat.agent_id IS NOT NULL OR one_off.agent_id IS NOT NULL`
  const ranks = standings.map(({ agent_id, flagged, ranked_on, sums }) => {
    const day = Math.max(today, ranked_on)
    const rank = (type: ProductType, [gain, loss]: (bigint | null)[]) =>
      flagged ? null : rankOf(type, { gain: deflate(gain ?? 0n, day), loss: deflate(loss ?? 0n, day) })
    return {
      agent_id,
      day,
      repeat: rank('repeat', sums.slice(0, 2)),
      one_off: rank('one_off', sums.slice(2)),
    }
  })
  await tx`
    DELETE FROM market.review_ranks WHERE chain_id = ${chainId} AND agent_id = ANY(${ids}::bigint[])
      AND agent_id <> ALL(${ranks.map(({ agent_id }) => agent_id)}::bigint[])`
  if (ranks.length === 0) return
  await tx`
    INSERT INTO market.review_ranks AS r (chain_id, agent_id, repeat, one_off, day)
    SELECT ${chainId}, k.* FROM unnest(
      ${ranks.map(({ agent_id }) => agent_id)}::bigint[], ${ranks.map(({ repeat }) => repeat)}::float8[],
      ${ranks.map(({ one_off }) => one_off)}::float8[], ${ranks.map(({ day }) => day)}::int4[]) AS k
    ON CONFLICT (chain_id, agent_id) DO UPDATE SET repeat = excluded.repeat, one_off = excluded.one_off, day = excluded.day
      WHERE (r.repeat, r.one_off, r.day) IS DISTINCT FROM (excluded.repeat, excluded.one_off, excluded.day)`
}
