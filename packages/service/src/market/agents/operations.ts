import { createLoader } from '@referrer/process'
import type { Address } from 'viem'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { whole } from '../../kit/json-values.ts'
import type { AgentKey } from '../../kit/keys.ts'
import { refused } from '../../kit/market-error.ts'
import { reread } from '../../kit/onchain.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { offsetOf } from '../../machinery/db/page.ts'
import { inOneSnapshot } from '../../machinery/db/snapshot.ts'
import { type Agent, type AgentEntry, type AgentList, agentOf, entryOf, type Reviewed } from './agent.ts'
import { countReviewsOfAgent, productsReviewedBy } from './reviewed.ts'
import {
  type AgentRow,
  agentsOfOwner,
  countAgents,
  findAgentsAlone,
  type LoneAgentRow,
  listAgents,
} from './store.ts'

interface PageKey {
  chainId: number
  /** Page number, from 1. */
  page: number
  limit: number
}

/** How many heavy reads of a kind run at once: a page, or the list of an agent's reviewed products, may be large. */
const READ_AT_ONCE = 4

const readPage = once(({ sql, recovery }) =>
  coalesceInTurns<PageKey, AgentList>(
    READ_AT_ONCE,
    ({ chainId, page, limit }) => `${chainId}/${page}/${limit}`,
    async ({ chainId, page, limit }) => {
      const total = await countAgents(sql, chainId)
      const offset = offsetOf({ page, limit })
      const rows = offset < total ? await listAgents(sql, chainId, { limit, offset }) : []
      return { agents: rows.map((row) => entryOf(recovery, row)), total: whole(total), page, limit }
    },
  ),
)

/** One page of all agents, by ascending id. */
export const pageOfAgents = (
  context: Context,
  { config: { chainId } }: Chain,
  { page, limit }: Omit<PageKey, 'chainId'>,
): Promise<AgentList> => readPage(context)({ chainId, page, limit })

/** All agents of an owner, by ascending id. */
export const agentsOf = (
  context: Context,
  { config: { chainId } }: Chain,
  owner: Address,
): Promise<AgentEntry[]> => readOwned(context)({ chainId, owner })

/** Limited to few concurrent reads, because an owner may have very many agents. */
const readOwned = once(({ sql, recovery }) =>
  coalesceInTurns<{ chainId: number; owner: Address }, AgentEntry[]>(
    READ_AT_ONCE,
    ({ chainId, owner }) => `${chainId}/${owner}`,
    async ({ chainId, owner }) => {
      const rows = await agentsOfOwner(sql, chainId, bytesOf(owner))
      return rows.map((row) => entryOf(recovery, row))
    },
  ),
)

const keyOf = ({ chainId, agentId }: AgentKey) => `${chainId}/${agentId}`

const readAgent = once(({ sql }) =>
  createLoader<AgentKey, LoneAgentRow | undefined>({ keyOf, load: (keys) => findAgentsAlone(sql, keys) }),
)

const readReviewed = once(({ sql }) =>
  coalesceInTurns<AgentKey, Reviewed>(READ_AT_ONCE, keyOf, ({ chainId, agentId }) =>
    inOneSnapshot(sql, async (tx) => {
      const [count, products] = await Promise.all([
        countReviewsOfAgent(tx, chainId, agentId),
        productsReviewedBy(tx, chainId, agentId),
      ])
      return { count, products }
    }),
  ),
)

export async function getAgent(
  context: Context,
  { config: { chainId } }: Chain,
  agentId: bigint,
): Promise<Agent> {
  const key = { chainId, agentId }
  const [row, reviewed] = await Promise.all([readAgent(context)(key), readReviewed(context)(key)])
  if (!row) throw refused('not found', `agent ${agentId} not found`)
  return agentOf(context.recovery, row, reviewed)
}

/**
 * Waits a few seconds until an agent is indexed as it is on the chain, because its owner will read next what was just written and the
 * index may be a block behind. A time-out is only logged: the write is done.
 */
export async function untilIndexed(
  context: Context,
  { config: { chainId }, optionalReadMs }: Chain,
  agentId: bigint,
  holds: (row: AgentRow) => boolean = () => true,
): Promise<void> {
  await reread(
    context,
    () => readAgent(context)({ chainId, agentId }),
    (row) => row !== undefined && holds(row),
    optionalReadMs,
  ).catch((error: unknown) => context.log.warn({ err: error }, 'could not wait until an agent is indexed'))
}
