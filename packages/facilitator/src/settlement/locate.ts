// used → arrived, settled_final, taken or refused: the token has the authorisation as used, and the chain tells what for.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chain, Context } from '../context.ts'
import { keyOf, type Payment } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import { findArrival, isOpen, type OpenArrival } from './arrival.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { toSettle } from './order.ts'
import { refusalOfArrival, refusalOfRow, tookTooLong } from './refusals.ts'
import type { Next } from './states.ts'
import { adopt, blame, findRow } from './store.ts'

const POLL_MS = 500
const MOST_LOOKS = 5

export async function locate(
  context: Context,
  chain: Chain,
  { key, signal }: Attempt,
  { payment, refusal, burned }: In<'used'>,
): Promise<In<Next<'used'>>> {
  const row = await findRow(context.sql, key)
  if (row && row.state !== 'failed') return { state: 'taken', mayRetry: true }
  const arrival = await waitForDepth(context, chain, payment, signal, burned)
  if (arrival instanceof Refused) return refuse(arrival)
  if (arrival.type === 'arrived') return { state: 'arrived', refusal }
  if (refusal) return refuse(refusal)
  // The purchase was made by somebody who told nobody: the first request for it is answered with their transaction.
  const { transaction } = arrival
  if (await adopt(context.sql, toSettle(payment), transaction)) return { state: 'settled_final', transaction }
  return refuse(refusalOfRow(await findRow(context.sql, key)))
}

/** Waits until somebody else's transaction is deep enough to build on. */
async function waitForDepth(
  { sql, clock }: Context,
  chain: Chain,
  payment: Payment,
  signal: AbortSignal,
  burned: bigint,
): Promise<OpenArrival | Refused> {
  for (let looks = 1; ; looks += 1) {
    const arrival = await findArrival(chain, payment)
    // Only the payer can have cancelled it, or signed another with its nonce.
    if (burned > 0n && (arrival.type === 'cancelled' || arrival.type === 'elsewhere'))
      await blame(sql, keyOf(payment), burned, false, clock())
    // Of several nodes one may be behind.
    const isToBeSeen = arrival.type === 'unseen' && looks < MOST_LOOKS
    if (!isOpen(arrival) && !isToBeSeen) return refusalOfArrival(arrival)
    if (isOpen(arrival) && arrival.depth >= chain.confirmations) return arrival
    await sleep(POLL_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return tookTooLong()
  }
}
