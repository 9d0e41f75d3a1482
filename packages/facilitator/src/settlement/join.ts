// taken → enqueued, queued or refused: another request or process has written a row for this payment.
import type { Context } from '../context.ts'
import { alreadyUsed } from '../payment/refused.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { refusalOfRow } from './refusals.ts'
import type { Next } from './states.ts'
import { findRow } from './store.ts'

/** A copy of the request gets the answer of the row. Any other request for the same money is refused. */
export async function join(
  { sql }: Context,
  { key, digest, payment }: Attempt,
  { mayRetry, isSplit }: In<'taken'>,
): Promise<In<Next<'taken'>>> {
  const row = await findRow(sql, key)
  const isOwn = row?.digest === digest
  if (isOwn && row.state === 'pending' && row.intentId !== null)
    return { state: 'enqueued', intentId: row.intentId }
  if (isSplit && row?.state !== 'settled') return refuse(alreadyUsed(undefined))
  const isFree = !row || (isOwn && row.state === 'open')
  return isFree && mayRetry && payment ? { state: 'queued', payment } : refuse(refusalOfRow(row, digest))
}
