import type { Queryable, Transaction } from '@referrer/database'
import { type ProductType, supportOf } from '@referrer/ranking'
import type { AgentKey } from '../../kit/keys.ts'
import type { Kind } from './evidence.ts'
import { rankSteps, type Trusted } from './rank.ts'

/** Null: no agent of the chain has a rank. */
export type MeansRow = { mean_repeat: number | null; mean_one_off: number | null }

/** Null: the rank is not computed yet. */
export type RankRow = MeansRow & { flagged: boolean; repeat: number | null; one_off: number | null }

const means = (sql: Queryable) => sql`
  (s.repeat_sum / nullif(s.repeat_count, 0))::float8 AS mean_repeat,
  (s.one_off_sum / nullif(s.one_off_count, 0))::float8 AS mean_one_off`

/** The newest computation of the standings of a chain. They are off without a verified shop. */
const newestPass = (sql: Queryable, chainId: number) => sql`
  SELECT pass, verified > 0 AS is_on FROM market.standing_passes WHERE chain_id = ${chainId} ORDER BY pass DESC LIMIT 1`

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

/**
 * The money of the agent `agent` under the owner `owner` over all shops, as SQL: what supporters paid counts at
 * verified shops, what they spent at the others by their standing.
 */
const moneyOf = (sql: Queryable, chainId: number, agent: Fragment, owner: Fragment) => sql`
  SELECT coalesce(sum(m.sales), 0) AS sales, coalesce(sum(m.paid) FILTER (WHERE s.is_verified), 0) AS paid,
    coalesce(sum(m.spent * s.standing) FILTER (WHERE NOT s.is_verified), 0) AS spent_by_standing
  FROM market.author_money AS m
  LEFT JOIN market.shop_standings AS s ON s.chain_id = m.chain_id AND s.merchant_id = m.merchant_id
  WHERE m.chain_id = ${chainId} AND m.agent_id = ${agent} AND m.owner = ${owner}`

type Fragment = ReturnType<Queryable>

type MoneyRow = { standing: number | null; sales: bigint; paid: bigint; spent_by_standing: bigint }

const trustedBy = ({ standing, sales, paid, spent_by_standing }: MoneyRow): Trusted => ({
  standing,
  sales,
  support: supportOf(paid, spent_by_standing),
})

/** What the agent's evidence is trusted by. Null: no shop is verified, and everything counts in full. */
export async function trustedOf(sql: Queryable, chainId: number, agentId: bigint): Promise<Trusted | null> {
  const [row] = await sql<(MoneyRow & { is_on: boolean })[]>`
    SELECT newest.is_on, o.standing, money.* FROM (${newestPass(sql, chainId)}) AS newest
    LEFT JOIN chain.identities AS i ON i.chain_id = ${chainId} AND i.agent_id = ${agentId}
    LEFT JOIN market.owner_standings AS o ON o.chain_id = ${chainId} AND o.owner = i.owner
    CROSS JOIN LATERAL (${moneyOf(sql, chainId, sql`${agentId}`, sql`i.owner`)}) AS money`
  return row?.is_on ? trustedBy(row) : null
}

export type Evidence = {
  type: number
  kind: Kind
  review_id: bigint
  voter_agent_id: bigint | null
  weight: number
  /** Of a vote, when it was cast, in millionths. */
  voter_standing: number | null
  shop_standing: number | null
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
    SELECT t.type, x.kind, x.review_id, x.voter_agent_id, x.weight, x.happened_at, x.day, v.voter_standing, v.shop_standing
    FROM chain.identities AS i CROSS JOIN (VALUES (0), (1)) AS t (type)
    CROSS JOIN LATERAL (
      SELECT *, review_internal_id AS review_id FROM market.rank_evidence
      WHERE chain_id = ${chainId} AND agent_id = ${agentId} AND owner = i.owner AND product_type = t.type
      ORDER BY happened_at DESC, review_internal_id DESC, voter_owner LIMIT ${limit} OFFSET ${offset}) AS x
    LEFT JOIN market.votes AS v ON x.kind = 'vote' AND v.ballot_id = x.source AND v.review_internal_id = x.review_id
    WHERE i.chain_id = ${chainId} AND i.agent_id = ${agentId}
    ORDER BY t.type, x.happened_at DESC, x.review_id DESC, x.voter_owner`
}

/** Agents whose ranks were computed for an earlier day or with earlier standings. */
export async function agentsRankedBefore(
  sql: Queryable,
  chainId: number,
  day: number,
  most: number,
): Promise<bigint[]> {
  const rows = await sql<{ agent_id: bigint }[]>`
    (SELECT agent_id FROM market.review_ranks WHERE chain_id = ${chainId} AND day < ${day} ORDER BY day, agent_id LIMIT ${most})
    UNION
    (SELECT r.agent_id FROM (${newestPass(sql, chainId)}) AS newest
     JOIN market.review_ranks AS r ON r.chain_id = ${chainId} AND r.standing_pass < newest.pass
     ORDER BY r.standing_pass, r.agent_id LIMIT ${most})
    LIMIT ${most}`
  return rows.map(({ agent_id }) => agent_id)
}

type Ranking = MoneyRow & {
  agent_id: bigint
  flagged: boolean
  ranked_on: number
  gain: bigint
  loss: bigint
  one_off_gain: bigint
  one_off_loss: bigint
}

/**
 * Computes ranks from the evidence under the agents' present owners, for today. An agent already ranked for a later
 * day keeps that day, so that a replica whose clock is behind changes nothing. Agents without evidence lose their
 * row.
 */
export async function rankAgents(
  tx: Transaction,
  chainId: number,
  agentIds: readonly bigint[],
  { today, fullCommission }: { today: number; fullCommission: bigint },
): Promise<void> {
  if (agentIds.length === 0) return
  const ids = [...agentIds]
  const [newest] = await tx<{ pass: bigint; is_on: boolean }[]>`${newestPass(tx, chainId)}`
  const rows = await tx<Ranking[]>`
    SELECT k.agent_id, coalesce(a.flagged, false) AS flagged, coalesce(r.day, 0) AS ranked_on, o.standing, t.*, money.*
    FROM unnest(${ids}::bigint[]) AS k (agent_id)
    JOIN chain.identities AS i ON i.chain_id = ${chainId} AND i.agent_id = k.agent_id
    LEFT JOIN market.agents AS a ON a.chain_id = ${chainId} AND a.agent_id = k.agent_id
    LEFT JOIN market.review_ranks AS r ON r.chain_id = ${chainId} AND r.agent_id = k.agent_id
    LEFT JOIN market.owner_standings AS o ON o.chain_id = ${chainId} AND o.owner = i.owner
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(gain) FILTER (WHERE product_type = 0), 0) AS gain, coalesce(sum(loss) FILTER (WHERE product_type = 0), 0) AS loss,
        coalesce(sum(gain) FILTER (WHERE product_type = 1), 0) AS one_off_gain,
        coalesce(sum(loss) FILTER (WHERE product_type = 1), 0) AS one_off_loss,
        sum(pieces) AS pieces
      FROM market.rank_totals WHERE chain_id = ${chainId} AND agent_id = k.agent_id AND owner = i.owner) AS t
    CROSS JOIN LATERAL (${moneyOf(tx, chainId, tx`k.agent_id`, tx`i.owner`)}) AS money
    WHERE t.pieces > 0`
  const ranks = rows.map((row) => {
    const day = Math.max(today, row.ranked_on)
    const trusted = newest?.is_on ? trustedBy(row) : null
    const rank = (type: ProductType, gain: bigint, loss: bigint) =>
      row.flagged ? null : rankSteps(type, { gain, loss, day, trusted }, fullCommission).rank
    return {
      agent_id: row.agent_id,
      day,
      repeat: rank('repeat', row.gain, row.loss),
      one_off: rank('one_off', row.one_off_gain, row.one_off_loss),
    }
  })
  await tx`
    DELETE FROM market.review_ranks WHERE chain_id = ${chainId} AND agent_id = ANY(${ids}::bigint[])
      AND agent_id <> ALL(${ranks.map(({ agent_id }) => agent_id)}::bigint[])`
  if (ranks.length === 0) return
  await tx`
    INSERT INTO market.review_ranks AS r (chain_id, agent_id, repeat, one_off, day, standing_pass)
    SELECT ${chainId}, k.*, ${newest?.pass ?? 0n}::bigint FROM unnest(
      ${ranks.map(({ agent_id }) => agent_id)}::bigint[], ${ranks.map(({ repeat }) => repeat)}::float8[],
      ${ranks.map(({ one_off }) => one_off)}::float8[], ${ranks.map(({ day }) => day)}::int4[]) AS k
    ON CONFLICT (chain_id, agent_id) DO UPDATE
      SET repeat = excluded.repeat, one_off = excluded.one_off, day = excluded.day, standing_pass = excluded.standing_pass
      WHERE (r.repeat, r.one_off, r.day, r.standing_pass)
        IS DISTINCT FROM (excluded.repeat, excluded.one_off, excluded.day, excluded.standing_pass)`
}
