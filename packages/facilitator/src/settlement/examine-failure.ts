// failed → used or checked: why a mined transaction did nothing for a payment, and whether another attempt helps.
import type { Chain, Context } from '../context.ts'
import type { Attempt, In } from './attempt.ts'
import { toSettle } from './order.ts'
import { simulate } from './simulation.ts'
import type { Next } from './states.ts'
import { blame } from './store.ts'

/** Undefined: the payment stays failed. */
export async function examineFailure(
  context: Context,
  chain: Chain,
  { key, payment, hasArrived }: Attempt,
  { isForAll, block, burned }: In<'failed'>,
): Promise<In<Next<'failed'> & ('used' | 'checked')> | undefined> {
  if (!payment || hasArrived) return undefined
  // Between the trial and the block somebody may have submitted the transfer. A node that is behind would not know of it.
  const [verdict] = await simulate(context, chain, chain.relayerPool.available()[0], [payment], block)
  if (verdict?.type === 'used') return { state: 'used', payment, refusal: verdict.refusal, burned }
  const fault = verdict?.type === 'good' ? verdict : verdict?.type === 'refused' && verdict.fault
  // The payer answers for the gas that its payment burned.
  if (fault && !isForAll) await blame(context.sql, key, burned, fault.hasCode, context.clock())
  // Another payment of its transaction made it fail: it is sent alone.
  if (verdict?.type !== 'good' || !isForAll) return undefined
  return { state: 'checked', order: toSettle(payment), gas: verdict.gas, hasCode: verdict.hasCode }
}
