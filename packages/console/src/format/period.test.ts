import { describe, expect, it } from 'vitest'
import { daysOf, periodOf } from './period.ts'

describe('the period of a chart', () => {
  it('is one of three', () => {
    expect([30, '90', 365, 7, undefined].map(periodOf)).toEqual([30, 90, 365, 30, 30])
  })

  it('ends today and has that many days', () => {
    const now = Date.parse('2026-11-17T23:59:59Z')
    expect(daysOf(30, now)).toEqual({ from: '2026-10-19', to: '2026-11-17' })
    expect(daysOf(365, now)).toEqual({ from: '2025-11-18', to: '2026-11-17' })
  })
})
