// An agent in a few lines, as lists and pages show it beside something else.
import { effectiveRank } from '@referrer/ranking'
import { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { accountShown, wholeNumber } from '../../kit/fields.ts'
import { address, whole } from '../../kit/json-values.ts'
import { findAgents } from '../../market/agents/store.ts'
import { Commission, commissionOf } from '../../market/earnings/commission.ts'
import { countsOfAgents } from './store.ts'

const rank = z.number().nullable().meta({ about: 'From 0 to 1; null: not computed yet.' })

export const AgentCard = z
  .object({
    agent_id: wholeNumber,
    owner_address: accountShown,
    flagged: z.boolean(),
    review_rank_repeat: rank,
    review_rank_one_off: rank,
    review_count: wholeNumber.meta({ about: 'Of published reviews.' }),
    sales_count: wholeNumber.meta({ about: 'Of purchases through its reviews.' }),
    commission: Commission,
  })
  .meta({ id: 'AgentCard' })

export type AgentCard = z.output<typeof AgentCard>

/** The cards of agents, by agent id. Agents that are not on the chain have none. */
export async function cardsOf(
  { sql, recovery }: Pick<Context, 'sql' | 'recovery'>,
  chainId: number,
  agentIds: readonly bigint[],
): Promise<Map<bigint, AgentCard>> {
  const ids = [...new Set(agentIds)]
  if (ids.length === 0) return new Map()
  const keys = ids.map((agentId) => ({ chainId, agentId }))
  const [rows, counts] = await Promise.all([findAgents(sql, keys), countsOfAgents(sql, chainId, ids)])
  return new Map(
    rows.flatMap((row) => {
      if (!row) return []
      const { reviews, sales } = counts.get(row.agent_id) ?? { reviews: 0n, sales: 0n }
      const card: AgentCard = {
        agent_id: whole(row.agent_id),
        owner_address: address(recovery, row.owner),
        flagged: row.flagged,
        review_rank_repeat: effectiveRank(row.flagged, row.repeat),
        review_rank_one_off: effectiveRank(row.flagged, row.one_off),
        review_count: whole(reviews),
        sales_count: whole(sales),
        commission: commissionOf(row),
      }
      return [[row.agent_id, card] as const]
    }),
  )
}
