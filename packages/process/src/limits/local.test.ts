import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLimiter } from './local.ts'

describe('the limiter', () => {
  it('lets a burst pass and then as many a second as it may', () => {
    const limiter = createLimiter({ perSecond: 2, burst: 3 })
    const passes = (nowMs: number) => limiter('a', nowMs) === 0
    expect([0, 0, 0, 0].map(passes)).toEqual([true, true, true, false])
    expect([499, 500, 500, 1_000, 1_000].map(passes)).toEqual([false, true, false, true, false])
  })

  it('says how long to wait, and that is enough', () => {
    const limiter = createLimiter({ perSecond: 4, burst: 1 })
    limiter('a', 1_000)
    const seconds = limiter('a', 1_100)
    expect(seconds).toBeCloseTo(0.15)
    expect(limiter('a', 1_100 + seconds * 1_000)).toBe(0)
  })

  it('counts each client alone', () => {
    const limiter = createLimiter({ perSecond: 1, burst: 1 })
    expect(limiter('a', 0)).toBe(0)
    expect(limiter('b', 0)).toBe(0)
    expect(limiter('a', 0)).toBeGreaterThan(0)
  })

  it('never fills beyond the burst, however long a client was away', () => {
    const limiter = createLimiter({ perSecond: 10, burst: 2 })
    limiter('a', 0)
    expect([1e9, 1e9, 1e9].map((nowMs) => limiter('a', nowMs) === 0)).toEqual([true, true, false])
  })

  it('gives nothing for a clock that goes back', () => {
    const limiter = createLimiter({ perSecond: 1, burst: 1 })
    limiter('a', 10_000)
    expect(limiter('a', 5_000)).toBeGreaterThan(0)
    expect(limiter('a', 5_999)).toBeGreaterThan(0)
    expect(limiter('a', 6_000)).toBe(0)
  })

  it('takes nothing away for a clock that goes back either', () => {
    const limiter = createLimiter({ perSecond: 1, burst: 3 })
    expect(limiter('a', 3_600_000)).toBe(0)
    expect([0, 0, 0].map((nowMs) => limiter('a', nowMs) === 0)).toEqual([true, true, false])
  })

  it('lets nobody pass more often than the burst and the rate allow, whatever the times and the others', () => {
    const steps = fc.array(fc.record({ after: fc.nat(400), client: fc.constantFrom('a', 'b', 'c') }), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 10 }),
        (asks, perSecond, burst) => {
          const limiter = createLimiter({ perSecond, burst })
          const passed = new Map<string, number>()
          let now = 0
          for (const { after, client } of asks) {
            now += after
            if (limiter(client, now) === 0) passed.set(client, (passed.get(client) ?? 0) + 1)
            expect(passed.get(client) ?? 0).toBeLessThanOrEqual(burst + (now * perSecond) / 1_000 + 1e-6)
          }
        },
      ),
    )
  })

  it('keeps a bounded number of clients: those who have not come for longest are forgotten', () => {
    const limiter = createLimiter({ perSecond: 1, burst: 1 })
    limiter('first', 0)
    for (let other = 0; other < 90_000; other += 1) limiter(`other ${other}`, 0)
    expect(limiter('first', 0)).toBeGreaterThan(0)
    for (let other = 0; other < 200_000; other += 1) limiter(`another ${other}`, 0)
    expect(limiter('another 199999', 0)).toBeGreaterThan(0)
    expect(limiter('first', 0)).toBe(0)
  })
})

it('takes the tokens of a costly request all or none', () => {
  const limiter = createLimiter({ perSecond: 2, burst: 10 })
  expect(limiter('a', 0, 7)).toBe(0)
  expect(limiter('a', 0, 5)).toBe(1)
  expect(limiter('a', 0, 3)).toBe(0)
  expect(limiter('a', 1_000, 5)).toBe(1.5)
  expect(limiter('b', 0, 1_000)).toBe(0)
  expect(limiter('b', 0)).toBe(0.5)
})
