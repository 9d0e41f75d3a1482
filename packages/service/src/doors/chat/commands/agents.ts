import type { Address } from 'viem'
import type { Context } from '../../../kit/context.ts'
import { address } from '../../../kit/json-values.ts'
import { bytesOf } from '../../../machinery/db/bytes.ts'

export interface AgentOf {
  chainId: number
  agentId: bigint
  owner: Address
}

/** More agents than buttons that fit below a message are not offered; their owner queues purchases for them over REST. */
const MOST_AGENTS = 8

/**
 * The oldest agents that these wallets own on the configured chains: whoever gives a wallet further ones does not hide its own. Identities
 * of merchants do not buy.
 */
export async function agentsOf(
  { sql, chains, recovery }: Context,
  wallets: readonly Address[],
): Promise<AgentOf[]> {
  if (wallets.length === 0) return []
  const rows = await sql<{ chain_id: bigint; agent_id: bigint; owner: Buffer }[]>`
    SELECT i.chain_id, i.agent_id, i.owner FROM chain.identities AS i
    WHERE i.chain_id = ANY(${[...chains.keys()]}::bigint[]) AND i.owner = ANY(${wallets.map(bytesOf)}::bytea[])
      AND NOT EXISTS (SELECT FROM chain.merchants AS m WHERE (m.chain_id, m.merchant_id) = (i.chain_id, i.agent_id))
    ORDER BY i.agent_id, i.chain_id LIMIT ${MOST_AGENTS}`
  return rows.map(({ chain_id, agent_id, owner }) => ({
    chainId: Number(chain_id),
    agentId: agent_id,
    owner: address(recovery, owner),
  }))
}

/** Which of these agents of a chain the wallets own. */
export async function ownedAmong(
  { sql }: Context,
  chainId: number,
  agentIds: readonly number[],
  wallets: readonly Address[],
): Promise<Set<number>> {
  const rows = await sql<{ agent_id: bigint }[]>`
    SELECT agent_id FROM chain.identities
    WHERE chain_id = ${chainId} AND agent_id = ANY(${[...agentIds]}::bigint[])
      AND owner = ANY(${wallets.map(bytesOf)}::bytea[])`
  return new Set(rows.map(({ agent_id }) => Number(agent_id)))
}
