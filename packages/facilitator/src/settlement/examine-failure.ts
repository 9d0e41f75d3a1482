// failed → used: a mined transaction did nothing for a payment, because somebody else had submitted the transfer.
import type { Chain, Context } from '../context.ts'
import type { Attempt, In } from './attempt.ts'
import { simulate } from './simulation.ts'
import type { Next } from './states.ts'

/** Undefined: the payment stays failed. */
export async function examineFailure(
  context: Context,
  chain: Chain,
  { payment, hasArrived }: Attempt,
  { block }: In<'failed'>,
): Promise<In<Next<'failed'> & 'used'> | undefined> {
  if (!payment || hasArrived) return undefined
  // A node that is behind would not know of it.
  const [verdict] = await simulate(context, chain, chain.relayerPool.available()[0], [payment], block)
  return verdict?.type === 'used' ? { state: 'used', payment, refusal: verdict.refusal } : undefined
}
