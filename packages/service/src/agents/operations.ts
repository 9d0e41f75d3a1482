import type { Address } from 'viem'
import { type Chain, type Context, once } from '../context.ts'
import { gather } from '../gather.ts'
import { refused } from '../market-error.ts'
import { reread } from '../onchain.ts'
import type { AgentKey } from '../ranks/store.ts'
import { countReviewsOfAgent, productsReviewedBy } from '../reviews/store.ts'
import { type Agent, type AgentEntry, agentOf, entryOf } from './agent.ts'
import { type AgentRow, agentsOfOwner, countAgents, findAgents, listAgents } from './store.ts'

/** Of a list. */
interface PageKey {
  chainId: number
  /** From 1. */
  page: number
  limit: number
}

export interface AgentPage {
  agents: AgentEntry[]
  /** On all pages. */
  total: bigint
}

const readPage = once(({ sql, recovery }) =>
  gather<PageKey, AgentPage>({
    keyOf: ({ chainId, page, limit }) => `${chainId}/${page}/${limit}`,
    // One page a question, so that nobody waits for another's page far down the list.
    most: 1,
    flights: 4,
    ask: (keys) =>
      Promise.all(
        keys.map(async ({ chainId, page, limit }) => {
          const total = await countAgents(sql, chainId)
          const offset = (page - 1) * limit
          const rows = offset < total ? await listAgents(sql, chainId, { limit, offset }) : []
          return { agents: rows.map((row) => entryOf(recovery, row)), total }
        }),
      ),
  }),
)

/** By ascending id. */
export const pageOfAgents = (
  context: Context,
  { config: { chainId } }: Chain,
  { page, limit }: Omit<PageKey, 'chainId'>,
): Promise<AgentPage> => readPage(context)({ chainId, page, limit })

/** All of them, by ascending id. */
export async function agentsOf(
  { sql, recovery }: Context,
  { config: { chainId } }: Chain,
  owner: Address,
): Promise<AgentEntry[]> {
  const rows = await agentsOfOwner(sql, chainId, Buffer.from(owner.slice(2), 'hex'))
  return rows.map((row) => entryOf(recovery, row))
}

const readAgent = once(({ sql }) =>
  gather<AgentKey, AgentRow | undefined>({
    keyOf: ({ chainId, agentId }) => `${chainId}/${agentId}`,
    ask: (keys) => findAgents(sql, keys),
  }),
)

export async function getAgent(
  context: Context,
  { config: { chainId } }: Chain,
  agentId: bigint,
): Promise<Agent> {
  const { sql, recovery } = context
  const [row, count, products] = await Promise.all([
    readAgent(context)({ chainId, agentId }),
    countReviewsOfAgent(sql, chainId, agentId),
    productsReviewedBy(sql, chainId, agentId),
  ])
  if (!row) throw refused('not found', `agent ${agentId} not found`)
  return agentOf(recovery, row, { count, products })
}

/**
 * Waits, for a while at most, until an agent that is on the chain can be read here: its owner reads next what was just written, and
 * the records may be a block behind. That it is not seen in time changes nothing of what was written.
 */
export async function untilSeen(
  context: Context,
  { config: { chainId } }: Chain,
  agentId: bigint,
): Promise<void> {
  await reread(
    () => readAgent(context)({ chainId, agentId }),
    (row) => row !== undefined,
  ).catch((error: unknown) => context.log.warn({ err: error }, 'an agent was not seen in time'))
}
