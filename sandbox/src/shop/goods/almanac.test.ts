import { describe, expect, it } from 'vitest'
import { RequestError } from '../request-error.ts'
import { almanacOf, readYear } from './almanac.ts'

const of = (year: number, city: string) => almanacOf(year).cities.find((entry) => entry.city === city)

describe('the almanac', () => {
  it('finds the solstices, the other way round in the south', () => {
    expect(of(2026, 'London')?.longest_day.date).toBe('2026-06-21')
    expect(of(2026, 'London')?.shortest_day.date).toMatch(/^2026-12-2[12]$/)
    expect(of(2026, 'Cape Town')?.longest_day.date).toMatch(/^2026-12-2[12]$/)
  })

  it('has a figure for every month', () => {
    expect(of(2028, 'Nairobi')?.daylight_minutes).toHaveLength(12)
  })

  it('refuses a year that its formula does not hold for', () => {
    for (const year of ['1949', '2101', '2026.5', 'next'])
      expect(() => readYear(new URLSearchParams({ year }), 0)).toThrow(RequestError)
    expect(readYear(new URLSearchParams(), Date.UTC(2027, 5, 1))).toBe(2027)
  })
})
