import type { Context } from '../context.ts'
import type { Refused } from '../payment/refused.ts'
import type { Subject } from './answers.ts'

/** What is the buyer's or the seller's fault is worth a line; what is ours or the chain's is worth a warning. */
export function logRefusal(
  { log }: Pick<Context, 'log'>,
  reqId: string,
  about: Subject,
  refused: Refused,
): void {
  const { reason, message: why, transaction, cause } = refused
  const line = { reqId, ...about, reason, why, ...(transaction && { transaction }) }
  if (reason === 'settle_failed')
    log.warn({ ...line, ...(cause !== undefined && { err: cause }) }, 'payment not settled')
  else log.info(line, 'payment refused')
}
