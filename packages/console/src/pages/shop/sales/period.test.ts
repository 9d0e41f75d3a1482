import { describe, expect, it } from 'vitest'
import { barsOf, beginOf, periodOf } from './period.ts'

const NOW = Date.parse('2026-11-17T15:00:00Z')
const on = (day: string, net_usdc: number, commission_usdc: number) => ({ day, net_usdc, commission_usdc })

describe('the period of a chart', () => {
  it('is one of three', () => {
    expect([30, '90', 365, 7, undefined].map(periodOf)).toEqual([30, 90, 365, 30, 30])
    expect(beginOf(30, NOW)).toBe('2026-10-19T00:00:00Z')
  })

  it('has a bar for each day, today last', () => {
    const bars = barsOf([on('2026-11-17', 90, 10), on('2026-10-19', 5, 1)], 30, NOW)
    expect(bars).toHaveLength(30)
    expect(bars.at(-1)).toEqual({ at: '2026-11-17', values: [90, 10] })
    expect(bars[0]).toEqual({ at: '2026-10-19', values: [5, 1] })
    expect(bars[1]?.values).toEqual([0, 0])
  })

  it('of a year has bars of a week, in which the days are added', () => {
    const bars = barsOf(
      [on('2026-11-17', 1, 2), on('2026-11-11', 10, 20), on('2026-11-10', 100, 200)],
      365,
      NOW,
    )
    expect(bars).toHaveLength(53)
    expect(bars.at(-1)).toEqual({ at: '2026-11-11', values: [11, 22] })
    expect(bars.at(-2)).toEqual({ at: '2026-11-04', values: [100, 200] })
  })

  it('leaves out what is not in it', () => {
    const bars = barsOf([on('2026-11-18', 1, 1), on('2020-01-01', 1, 1)], 30, NOW)
    expect(bars.every(({ values: [net, commission] }) => net === 0 && commission === 0)).toBe(true)
  })
})
