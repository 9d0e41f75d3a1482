// used → arrived, final, taken or refused: the token has the authorisation as used, and the chain tells what for.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chain, Context } from '../context.ts'
import type { Payment } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import { findArrival, isOpen, type OpenArrival } from './arrival.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { toSettle } from './order.ts'
import { refusalOfArrival, refusalOfRow, tookTooLong, unpinned } from './refusals.ts'
import type { Next } from './states.ts'
import { adopt, findRow } from './store.ts'

const POLL_MS = 500
const MOST_LOOKS = 5

export async function locate(
  context: Context,
  chain: Chain,
  { key, digest, signal, takeBack }: Attempt,
  { payment, refusal }: In<'used'>,
): Promise<In<Next<'used'>>> {
  const { sql, clock } = context
  const row = await findRow(sql, key)
  if (row && row.state !== 'open') return { state: 'taken', mayRetry: true }
  const isOwn = row?.digest === digest
  const arrival = await waitForDepth(chain, payment, signal, isOwn && row.wasSent)
  if (arrival instanceof Refused) return refuse(arrival)
  if (arrival.type === 'arrived') {
    // What commits to nothing is split for the purchase that it was first shown for, while that is known.
    if (isOwn || payment.isCommitted) return { state: 'arrived', refusal }
    return refuse(unpinned().withTakeBack(await takeBack(0)))
  }
  if (refusal) return refuse(refusal)
  // The purchase was made by somebody who told nobody: the first request for it is answered with their transaction.
  const { transaction } = arrival
  if (await adopt(sql, toSettle(payment), transaction, clock())) return { state: 'final', transaction }
  return refuse(refusalOfRow(await findRow(sql, key), digest))
}

/** Waits until the transaction is deep enough to build on. `isOurs`: a transaction of ours that a reorganisation brought back counts, too. */
async function waitForDepth(
  chain: Chain,
  payment: Payment,
  signal: AbortSignal,
  isOurs: boolean,
): Promise<OpenArrival | Refused> {
  for (let looks = 1; ; looks += 1) {
    const arrival = await findArrival(chain, payment, isOurs)
    // Of several nodes one may be behind.
    const isToBeSeen = arrival.type === 'unseen' && looks < MOST_LOOKS
    if (!isOpen(arrival) && !isToBeSeen) return refusalOfArrival(arrival)
    if (isOpen(arrival) && arrival.depth >= chain.confirmations) return arrival
    await sleep(POLL_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return tookTooLong()
  }
}
