import type { Chain, Context } from '../context.ts'
import { expectedFee } from '../payment/fee.ts'
import { keyOf, type Payment } from '../payment/payment.ts'
import { findArrival, isOpen } from './arrival.ts'
import { requireUntried, requireWorth } from './deployment.ts'
import { toSettle } from './order.ts'
import { refusalOfArrival, refusalOfRow, unreachable } from './refusals.ts'
import { simulate } from './simulation.ts'
import { findRow } from './store.ts'

/** Throws `Refused` when the payment would not be settled now. Changes nothing. */
export async function verify(context: Context, chain: Chain, payment: Payment): Promise<void> {
  const [verdict] = await simulate(context, chain, chain.relayerPool.available()[0], [payment])
  if (verdict?.type === 'good') {
    if (verdict.deploymentGas === undefined) return
    await requireUntried(context, payment)
    requireWorth(context, payment, verdict, await expectedFee(context, chain, toSettle(payment)))
    return
  }
  if (verdict?.type === 'refused') throw verdict.refusal
  if (verdict?.type !== 'used') throw unreachable(undefined)
  if (verdict.refusal) throw verdict.refusal
  const row = await findRow(context.sql, keyOf(payment))
  if (row && row.state !== 'open') throw refusalOfRow(row, payment.digest)
  const arrival = await findArrival(chain, payment)
  if (!isOpen(arrival)) throw refusalOfArrival(arrival)
}
