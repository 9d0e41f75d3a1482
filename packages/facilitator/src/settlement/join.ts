// taken → enqueued, queued or refused: another request or process has written a row for this payment.
import type { Context } from '../context.ts'
import { alreadyUsed } from '../payment/refused.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { refusalOfRow } from './refusals.ts'
import type { Next } from './states.ts'
import { findRow } from './store.ts'
import type { Tracker } from './tracker.ts'

/** A copy of the request gets the answer of the row. Any other request for the same money waits for it, and is refused. */
export async function join(
  { sql }: Context,
  tracker: Tracker,
  { key, digest, payment }: Attempt,
  { mayRetry, isSplit }: In<'taken'>,
): Promise<In<Next<'taken'>>> {
  const row = await findRow(sql, key)
  if (row?.state === 'pending') {
    const { intentId } = row
    if (intentId === null) throw new Error(`no transaction for the payment ${key.payer} ${key.nonce}`)
    if (row.digest === digest) return { state: 'enqueued', intentId }
    await tracker.follow(intentId)
    return refuse(refusalOfRow(await findRow(sql, key)))
  }
  if (isSplit && row?.state !== 'settled') return refuse(alreadyUsed(undefined))
  const isFree = !row || (row.state === 'open' && row.digest === digest)
  return isFree && mayRetry && payment ? { state: 'queued', payment } : refuse(refusalOfRow(row))
}
