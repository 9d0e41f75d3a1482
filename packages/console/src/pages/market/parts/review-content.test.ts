import { describe, expect, it } from 'vitest'
import { readContent } from './review-content.ts'

const figures = (content: Record<string, unknown>) =>
  readContent(content).figures.map(({ name, value }) => `${name}: ${value}`)

describe('what a review says', () => {
  it('shows the measurements that people compare first, with names and units', () => {
    const content = {
      region: 'eu',
      rating: 4,
      description: 'Good.',
      cost_per_call_usdc: '0.01',
      latency_ms: { p99: 95, p50: 38 },
      calls: 1200,
      successes: 1199,
      failures: 1,
    }
    expect(readContent(content)).toMatchObject({ rating: 4, description: 'Good.', more: 0 })
    expect(figures(content)).toEqual([
      'Worked: 1,199 of 1,200 calls',
      'Latency p50: 38 ms',
      'Latency p99: 95 ms',
      'Cost per call: 0.01 USDC',
      'Region: eu',
    ])
  })

  it('shows counts as they are where they do not make sense together', () => {
    expect(figures({ calls: 2, successes: 3 })).toEqual(['Calls: 2', 'Successes: 3'])
    expect(figures({ calls: 0, successes: 0 })).toEqual(['Calls: 0', 'Successes: 0'])
  })

  it('bounds names, values and their number, and shows no marks that turn text around', () => {
    const long = figures({ [`a${'b'.repeat(100)}`]: 'c'.repeat(16_384), list: [1, [2]], ok: true })
    expect(long[0]?.length).toBeLessThanOrEqual(41 + 2 + 61)
    expect(long.slice(1)).toEqual(['List: [1,[2]]', 'Ok: yes'])
    expect(figures({ note: '\u202Eabc', gone: null })).toEqual(['Note: abc'])
    const many = readContent(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, at])))
    expect(many.figures).toHaveLength(24)
    expect(many.more).toBe(36)
  })

  it('takes no rating that is none', () => {
    expect(readContent({ rating: 9 }).rating).toBeNull()
    expect(readContent({ rating: '5', description: 7 })).toMatchObject({ rating: null, description: '' })
  })
})
