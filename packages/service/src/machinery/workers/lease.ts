import { withTimeout } from '@referrer/process'
import { LeaseLostError } from './errors.ts'

export interface Lease {
  leaseMs: number
  /** `performance.now()` from before the lease was asked for. */
  heldSince: number
  /** Prolongs the lease by `leaseMs`; false when somebody else has it. */
  renew(): Promise<boolean>
  /** Ends the work early. */
  abort: AbortSignal
  /** How long work that was told to end may take to do so before it is left behind. */
  graceMs: number
}

/**
 * Does work while a lease is held, and tells the work by its signal when the lease is lost or `abort` fires.
 * After that it settles as the work does when the work succeeds, and otherwise rejects with the signal's reason.
 */
export async function underLease<T>(lease: Lease, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const lose = () => controller.abort(new LeaseLostError('the lease ran out before it could be renewed'))
  const abort = () => controller.abort(lease.abort.reason)

  let expiry = setTimeout(lose, Math.max(0, lease.heldSince + lease.leaseMs - performance.now()))
  let renewal = setTimeout(renewLease, lease.leaseMs / 3)
  async function renewLease() {
    const askedAt = performance.now()
    // An unanswered renewal is no loss yet: the expiry decides.
    const isHeld = await lease.renew().catch(() => undefined)
    if (signal.aborted || isDone) return
    if (isHeld === false) return controller.abort(new LeaseLostError('the lease is in other hands'))
    if (isHeld) {
      clearTimeout(expiry)
      expiry = setTimeout(lose, askedAt + lease.leaseMs - performance.now())
    }
    renewal = setTimeout(renewLease, lease.leaseMs / 3)
  }

  let isDone = false
  const told = new Promise((resolve) => signal.addEventListener('abort', resolve))
  lease.abort.addEventListener('abort', abort)
  if (lease.abort.aborted) abort()
  try {
    const working = work(signal)
    const leaveBehind = () => Promise.reject<T>(signal.reason)
    return await Promise.race([working, told.then(() => withTimeout(lease.graceMs, working, leaveBehind))])
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    isDone = true
    lease.abort.removeEventListener('abort', abort)
    for (const timer of [expiry, renewal]) clearTimeout(timer)
  }
}
