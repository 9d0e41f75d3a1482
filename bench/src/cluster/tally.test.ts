import { describe, expect, it } from 'vitest'
import { createTally, percentile, Retryable, untilDone } from './tally.ts'

describe('the tally of a benchmark', () => {
  it('counts what a repetition hides, and what none hides', async () => {
    const tally = createTally()
    let failuresLeft = 2
    const work = async () => {
      if (failuresLeft-- > 0) throw new Retryable('nobody answered')
      return 'done'
    }
    expect(await untilDone(tally, work, { giveUpMs: 60_000, pauseMs: 0 })).toBe('done')
    expect(await untilDone(tally, work, { giveUpMs: 60_000, pauseMs: 0 })).toBe('done')
    const refused = async () => {
      throw new Error('refused')
    }
    expect(await untilDone(tally, refused, { giveUpMs: 60_000 })).toBeUndefined()
    expect(tally).toMatchObject({ done: 2, repeated: 1, lost: ['refused'] })
    expect([...tally.failures]).toEqual([
      ['nobody answered', 2],
      ['refused', 1],
    ])
  })

  it('knows percentiles', () => {
    expect(percentile([3, 1, 2], 0.5)).toBe(2)
    expect(percentile([3, 1, 2], 0.99)).toBe(3)
    expect(percentile([], 0.5)).toBe(0)
  })
})
