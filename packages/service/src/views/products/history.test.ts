import { describe, expect, it } from 'vitest'
import { pointsOf } from './history.ts'

const [first, today] = ['2026-01-01', '2026-12-31']
/** An opinion of weight 1 on a day; `satisfaction` in millionths. */
const told = (day: string, satisfaction: number) => ({
  day,
  opinions: 1,
  weight: 1_000_000n,
  weighted: 1_000_000n * BigInt(satisfaction),
})
const all = (...days: ReturnType<typeof told>[]) => ({
  mean: 500_000,
  opinions: days.length,
  weight: 1_000_000n * BigInt(days.length),
  weighted: days.reduce((sum, { weighted }) => sum + weighted, 0n),
})
const shown = (points: ReturnType<typeof pointsOf>) =>
  points.map(({ day, product_rank, opinions }) => [day, product_rank, opinions])

describe('the points of a rank', () => {
  it('are the mean of today when there is no opinion, or the middle when there is no mean', () => {
    const none = { opinions: 0, weight: 0n, weighted: 0n }
    expect(shown(pointsOf({ ...none, mean: 700_000 }, [], { first, today }))).toEqual([[today, 0.7, 0]])
    expect(shown(pointsOf({ ...none, mean: null }, [], { first, today }))).toEqual([[today, 0.5, 0]])
  })

  it('begin with what was told before the first day', () => {
    const [before, during] = [told('2025-05-05', 1_000_000), told('2026-05-05', 0)]
    expect(shown(pointsOf(all(before, during), [during], { first, today }))).toEqual([
      [first, 0.583333, 1],
      ['2026-05-05', 0.5, 2],
      [today, 0.5, 2],
    ])
  })

  it('have none for a day on which the rank stayed the same', () => {
    const [one, two] = [told('2026-05-05', 1_000_000), told('2026-05-06', 583_333)]
    expect(shown(pointsOf(all(one, two), [one, two], { first, today }))).toEqual([
      ['2026-05-05', 0.583333, 1],
      [today, 0.583333, 2],
    ])
  })

  it('have one for each day, also when the first day or today brought an opinion', () => {
    const [before, atFirst, now] = [told('2025-05-05', 1_000_000), told(first, 0), told(today, 0)]
    expect(shown(pointsOf(all(before, atFirst, now), [atFirst, now], { first, today }))).toEqual([
      [first, 0.5, 2],
      [today, 0.4375, 3],
    ])
  })

  it('end later than today when the clock of the chain is ahead', () => {
    const ahead = told('2027-01-05', 1_000_000)
    expect(shown(pointsOf(all(ahead), [ahead], { first, today }))).toEqual([['2027-01-05', 0.583333, 1]])
  })
})
