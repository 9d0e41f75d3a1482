// Caps are advice to the agents of an owner: nothing here stops a payment.
import type { Context } from '../context.ts'
import { MarketError } from '../market-error.ts'
import { type Caps, type LimitKey, readLimit, type SpendingLimit, saveLimit } from './store.ts'

/** Replaces the limit. When it was stored and only reading it back failed, it comes without the moment. */
export async function setSpendingLimit(
  context: Context,
  key: LimitKey,
  caps: Caps,
): Promise<Caps & Partial<SpendingLimit>> {
  refuseForeignChain(context, key.chainId)
  if (Object.values(caps).some((cap) => cap !== null && cap < 0n)) {
    throw new MarketError('invalid input', 'caps must be non-negative')
  }
  await saveLimit(context, key, caps)
  try {
    return (await readLimit(context, key)) ?? caps
  } catch (error) {
    context.log.warn({ err: error }, 'a spending limit was stored but could not be read back')
    return caps
  }
}

export async function getSpendingLimit(context: Context, key: LimitKey): Promise<SpendingLimit> {
  refuseForeignChain(context, key.chainId)
  const limit = await readLimit(context, key)
  if (!limit) throw new MarketError('not found', 'no spending limit set')
  return limit
}

function refuseForeignChain({ chains }: Context, chainId: number): void {
  if (!chains.has(chainId)) throw new MarketError('invalid input', 'chain_id not configured')
}
