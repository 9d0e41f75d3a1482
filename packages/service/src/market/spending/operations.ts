// Spending caps of owners. They are advice to the owner's agents: the service does not stop payments.
import type { Chain, Context } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import { type Budget, budgetOf } from './budget.ts'
import { type Caps, type LimitKey, readLimit, type SpendingLimit, saveLimit } from './store.ts'

/** Replaces the limit. When it was stored but could not be read back, the answer has no `updatedAt`. */
export async function setSpendingLimit(
  context: Context,
  key: LimitKey,
  caps: Caps,
  client: string,
): Promise<Caps & Partial<SpendingLimit>> {
  requireChain(context, key.chainId)
  if (Object.values(caps).some((cap) => cap !== null && cap < 0n)) {
    throw new MarketError('invalid input', 'caps must be non-negative')
  }
  await saveLimit(context, key, caps, client)
  try {
    return (await readLimit(context, key)) ?? caps
  } catch (error) {
    context.log.warn({ err: error }, 'a spending limit was stored but could not be read back')
    return caps
  }
}

export async function getSpendingLimit(context: Context, key: LimitKey): Promise<SpendingLimit> {
  requireChain(context, key.chainId)
  const limit = await readLimit(context, key)
  if (!limit) throw new MarketError('not found', 'no spending limit set')
  return limit
}

/** Throws when the budget cannot be read, so that callers do not take an unknown budget for an unlimited one. */
export const getBudget = async (context: Context, { owner, chainId }: LimitKey): Promise<Budget> =>
  budgetOf(context, requireChain(context, chainId), owner)

function requireChain({ chains }: Context, chainId: number): Chain {
  const chain = chains.get(chainId)
  if (!chain) throw new MarketError('invalid input', 'chain_id not configured')
  return chain
}
