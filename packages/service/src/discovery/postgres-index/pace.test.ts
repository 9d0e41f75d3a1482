import { expect, it } from 'vitest'
import { Pace } from './pace.ts'

it('tells now and then how much is done and how long the rest takes', () => {
  const told: string[] = []
  let now = 500
  const pace = new Pace(
    980_000,
    (line) => told.push(line),
    () => now,
  )
  pace.reached(1_000)
  now += 20_000
  pace.reached(30_000)
  now += 1_000
  pace.reached(31_000)
  now += 579_000
  pace.reached(900_000)
  now += 100_000
  pace.reached(1_000_000)
  expect(told).toEqual([
    '30,000 of 980,000, 1,500 a second, about 11 min left',
    '900,000 of 980,000, 1,500 a second, about 53 s left',
    '1,000,000 of 1,000,000, 1,429 a second, about 0 s left',
  ])
})

it('tells no end of what has not begun', () => {
  const told: string[] = []
  let now = 0
  const pace = new Pace(
    10,
    (line) => told.push(line),
    () => now,
  )
  now = 60_000
  pace.reached(0)
  expect(told).toEqual(['0 of 10, 0 a second'])
})
