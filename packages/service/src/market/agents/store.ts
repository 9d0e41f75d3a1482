import type { Queryable } from '@referrer/database'
import { zeroAddress } from 'viem'
import type { AgentKey } from '../../kit/keys.ts'
import { LONGEST_URI } from '../../kit/onchain.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { countOf } from '../../machinery/db/counts.ts'
import type { Page } from '../../machinery/db/page.ts'
import { pageStart } from '../../machinery/db/page-start.ts'
import type { CommissionRow } from '../earnings/commission.ts'
import { type FileColumn, fileColumn } from '../registrations/store.ts'

/** An agent that is on the chain and known to the service. */
export type AgentRow = CommissionRow & {
  agent_id: bigint
  owner: Buffer
  /** When the service first saw the agent. */
  recorded_at: Date
  /** Empty when the agent has no URI. */
  uri: string
  /** Null when neither the agent has a wallet nor its present owner has registered it. */
  payment_wallet: Buffer | null
  flagged: boolean
  /** Ranks; null when they are not computed. */
  repeat: number | null
  one_off: number | null
}

/** An agent that is shown by itself. */
export type LoneAgentRow = AgentRow & FileColumn

export interface Registration {
  agentId: bigint
  owner: Buffer
  at: Date
}

const NO_WALLET = bytesOf(zeroAddress)

// The URI and wallet are shown once the agent is registered, and are read from the indexed chain state: anybody can register an agent, so
// the registration must not fix them. Without a wallet the payment address is the owner, if the present owner has registered the agent.
const columns = (sql: Queryable) => sql`
  a.agent_id, i.owner, a.recorded_at, a.flagged,
  CASE WHEN a.registered_at IS NOT NULL AND octet_length(i.uri) <= ${LONGEST_URI} THEN i.uri ELSE '' END AS uri,
  CASE WHEN a.registered_at IS NULL THEN NULL WHEN i.wallet <> ${NO_WALLET} THEN i.wallet
    WHEN a.registered_by = i.owner THEN i.owner END AS payment_wallet,
  e.immediate, e.held_back_settled, e.held_back_pending, r.repeat, r.one_off`

const agents = (sql: Queryable) => sql`
  chain.identities AS i JOIN market.agents AS a USING (chain_id, agent_id)
  LEFT JOIN market.earnings AS e USING (chain_id, agent_id)
  LEFT JOIN market.review_ranks AS r USING (chain_id, agent_id)`

/** One page of all agents, by ascending id. */
export function listAgents(sql: Queryable, chainId: number, { limit, offset }: Page): Promise<AgentRow[]> {
  // An index-only scan from the start of the page's id range finds the ids; the rows are then fetched one by one.
  const { start, from, skip } = pageStart(sql, chainId, 'agents', offset, 'ASC')
  return sql<AgentRow[]>`
    WITH ${start}, page AS (
      SELECT agent_id FROM chain.identities WHERE chain_id = ${chainId} AND agent_id >= ${from}
      ORDER BY agent_id LIMIT ${limit} OFFSET ${skip}
    )
    SELECT agent.* FROM page, LATERAL (
      SELECT ${columns(sql)} FROM ${agents(sql)}
      WHERE i.chain_id = ${chainId} AND i.agent_id = page.agent_id LIMIT 1) AS agent
    ORDER BY page.agent_id`
}

/** The number of agents on the chain. Each has a row in `market.agents` too, so this is the length of the whole list. */
export const countAgents = (sql: Queryable, chainId: number) => countOf(sql, chainId, 'agents')

/** All agents of an owner, by ascending id. */
export function agentsOfOwner(sql: Queryable, chainId: number, owner: Buffer): Promise<AgentRow[]> {
  return sql<AgentRow[]>`
    SELECT ${columns(sql)} FROM ${agents(sql)}
    WHERE i.chain_id = ${chainId} AND i.owner = ${owner} ORDER BY i.agent_id`
}

/** The agents in the order of the keys. */
export const findAgents = (sql: Queryable, keys: AgentKey[]): Promise<(AgentRow | undefined)[]> =>
  findEach(sql, keys, columns(sql))

/** With what each is shown with by itself. */
export const findAgentsAlone = (sql: Queryable, keys: AgentKey[]): Promise<(LoneAgentRow | undefined)[]> =>
  findEach(sql, keys, sql`${columns(sql)}, ${fileColumn(sql)}`)

async function findEach<Row extends AgentRow>(
  sql: Queryable,
  keys: AgentKey[],
  shown: ReturnType<typeof columns>,
): Promise<(Row | undefined)[]> {
  const rows = await sql<(Row & { at: bigint })[]>`
    SELECT key.at, agent.*
    FROM unnest(${keys.map(({ chainId }) => chainId)}::bigint[], ${keys.map(({ agentId }) => agentId)}::bigint[])
      WITH ORDINALITY AS key (chain_id, agent_id, at),
    LATERAL (
      SELECT ${shown} FROM ${agents(sql)}
      WHERE i.chain_id = key.chain_id AND i.agent_id = key.agent_id LIMIT 1) AS agent`
  const found = new Map(rows.map(({ at, ...row }) => [Number(at), row as unknown as Row]))
  return keys.map((_, index) => found.get(index + 1))
}

export async function findAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
): Promise<AgentRow | undefined> {
  const [row] = await findAgents(sql, [{ chainId, agentId }])
  return row
}

/** Creates the row of an agent that used the service before it was indexed. */
export async function recordAgent(sql: Queryable, chainId: number, agentId: bigint, at: Date): Promise<void> {
  await sql`
    INSERT INTO market.agents (chain_id, agent_id, recorded_at) VALUES (${chainId}, ${agentId}, ${at})
    ON CONFLICT DO NOTHING`
}

/** Returns false when this owner has registered the agent before. Of concurrent registrations one wins. */
export async function insertRegistration(
  sql: Queryable,
  chainId: number,
  { agentId, owner, at }: Registration,
): Promise<boolean> {
  const { count } = await sql`
    INSERT INTO market.agents AS a (chain_id, agent_id, recorded_at, registered_at, registered_by)
    VALUES (${chainId}, ${agentId}, ${at}, ${at}, ${owner})
    ON CONFLICT (chain_id, agent_id) DO UPDATE SET registered_at = coalesce(a.registered_at, excluded.registered_at),
      registered_by = excluded.registered_by
    WHERE a.registered_at IS NULL OR a.registered_by <> excluded.registered_by`
  return count === 1
}

/** Flags an agent, or takes the flag back (null). Returns false when there is no such agent. */
export async function flagAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  flaggedAt: Date | null,
): Promise<boolean> {
  const { count } = await sql`
    UPDATE market.agents SET flagged = ${flaggedAt !== null},
      flagged_at = CASE WHEN flagged AND ${flaggedAt !== null} THEN flagged_at ELSE ${flaggedAt} END
    WHERE chain_id = ${chainId} AND agent_id = ${agentId}`
  return count === 1
}
