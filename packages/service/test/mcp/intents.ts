// Actions of owners and runners with intents, shared by several tests.
import type { LocalAccount } from 'viem'
import { must } from '../http/caller.ts'
import type { TestMarket } from '../http/market.ts'
import type { McpCaller } from './client.ts'
import { inTwoSteps } from './two-steps.ts'

export const POLL = 'get_pending_intents'
export const EXECUTED = 'mark_intent_executed'
export const SKIPPED = 'mark_intent_skipped'

export const PAYLOAD = '{"max_amount":"1000000","ref_link":"https://market.test/r/abc","idempotency_key":"k"}'

type Market = Pick<TestMarket, 'call' | 'chainId'>
type Mcp = Pick<McpCaller, 'call'>
type Intent = { intent_id: string; status: string; result?: string; reason?: string }

export const MARKED = (marked: boolean) => ({ isError: false, structured: { status: 'ok', marked } })
export const SKIPPED_AS = (skipped: boolean) => ({ isError: false, structured: { status: 'ok', skipped } })

/** For agents of this owner, who signs for their runner. */
export function intentsOf({ call, chainId }: Market, mcp: Mcp, owner: LocalAccount) {
  const of = (agentId: bigint) => ({ agent_id: Number(agentId) })
  return {
    /** Queues a purchase; returns its id. */
    async queue(agentId: bigint, change: object = {}): Promise<string> {
      const body = {
        chain_id: chainId,
        ...of(agentId),
        type: 'buy_product',
        payload: JSON.parse(PAYLOAD),
        ...change,
      }
      return (await must(call('POST', '/v1/intents', { as: owner, body }))).intent_id
    },
    /** The intent as its owner sees it. */
    async statusOf(agentId: bigint, intentId: string): Promise<Omit<Intent, 'intent_id'>> {
      const { intents } = await must(call('GET', `/v1/intents?agent_id=${agentId}&limit=200`, { as: owner }))
      const { status, result, reason } = intents.find(({ intent_id }: Intent) => intent_id === intentId)
      return { status, result, reason }
    },
    poll: (agentId: bigint) => inTwoSteps(mcp, POLL, owner, of(agentId)),
    async polledIds(agentId: bigint): Promise<string[]> {
      const { structured } = await inTwoSteps(mcp, POLL, owner, of(agentId))
      return structured.intents.map(({ intent_id }: Intent) => intent_id)
    },
    execute: (agentId: bigint, intent_id: string, more: { result?: string } = {}) =>
      inTwoSteps(mcp, EXECUTED, owner, { ...of(agentId), intent_id, ...more }),
    skip: (agentId: bigint, intent_id: string, reason = 'too dear') =>
      inTwoSteps(mcp, SKIPPED, owner, { ...of(agentId), intent_id, reason }),
  }
}

/** Does the work with the service's clock moved forward. */
export async function later<T>(
  { clock }: Pick<TestMarket, 'clock'>,
  seconds: number,
  work: () => Promise<T>,
): Promise<T> {
  clock.aheadMs += seconds * 1_000
  try {
    return await work()
  } finally {
    clock.aheadMs -= seconds * 1_000
  }
}
