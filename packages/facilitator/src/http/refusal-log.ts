import type { Context } from '../context.ts'
import type { Refused } from '../payment/refused.ts'
import type { Subject } from './answers.ts'

/** `info` for faults of the buyer or the seller, `warn` for ours and the chain's. */
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
