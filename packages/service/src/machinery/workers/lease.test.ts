import { afterEach, describe, expect, it, vi } from 'vitest'
import { LeaseLostError } from './errors.ts'
import { type Lease, underLease } from './lease.ts'

const never = new Promise<never>(() => {})
const fired = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))

afterEach(() => {
  vi.useRealTimers()
})

function lease(change: Partial<Lease> = {}): Lease {
  return {
    leaseMs: 60,
    heldSince: performance.now(),
    renew: async () => true,
    abort: new AbortController().signal,
    graceMs: 60_000,
    ...change,
  }
}

describe('work under a lease', () => {
  it.each([
    ['are not answered', () => never],
    ['are refused', () => Promise.reject(new Error('no database'))],
  ])('is told that the lease is lost when renewals %s for its whole length', async (_, renew) => {
    let isTold = false
    const work = underLease(lease({ renew }), async (signal) => {
      await fired(signal)
      isTold = true
      throw new Error('cut short')
    })
    await expect(work).rejects.toThrow(LeaseLostError)
    expect(isTold).toBe(true)
  })

  it('is told at once when a renewal finds the lease in other hands', async () => {
    const work = underLease(lease({ renew: async () => false }), async (signal) => {
      await fired(signal)
      throw new Error('cut short')
    })
    await expect(work).rejects.toThrow('the lease is in other hands')
  })

  it('goes on when a renewal fails and the next succeeds', async () => {
    vi.useFakeTimers()
    let renewals = 0
    const enough = Promise.withResolvers<string>()
    const renew = async () => {
      renewals += 1
      if (renewals === 8) enough.resolve('done')
      if (renewals % 2 === 1) throw new Error('a hiccup')
      return true
    }
    const work = underLease(lease({ renew, graceMs: 0 }), () => enough.promise)
    // Eight renewals take more than twice the length of the lease.
    await vi.advanceTimersByTimeAsync(8 * 20)
    expect(await work).toBe('done')
  })

  it('counts when it succeeds although it was told to stop', async () => {
    const abort = new AbortController()
    const work = underLease(lease({ abort: abort.signal }), async (signal) => {
      await fired(signal)
      return 'finished all the same'
    })
    abort.abort()
    expect(await work).toBe('finished all the same')
  })

  it('is left behind when it does not stop', async () => {
    const abort = new AbortController()
    const work = underLease(lease({ abort: abort.signal, graceMs: 5 }), () => never)
    abort.abort(new Error('enough'))
    await expect(work).rejects.toThrow('enough')
  })

  it('fails with its own error when nobody stopped it', async () => {
    await expect(underLease(lease(), async () => Promise.reject(new Error('own')))).rejects.toThrow('own')
  })
})
