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
  /** How long the work may take to end after its signal fired; then it is no longer waited for. */
  graceMs: number
}

/**
 * Does work while a lease is held, and renews the lease meanwhile. The signal of the work fires when the lease is lost or `abort` fires:
 * work that succeeds all the same counts, and otherwise the promise rejects with the signal's reason.
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
    // A renewal that fails does not lose the lease yet: its expiry decides.
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
