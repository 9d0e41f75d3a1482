import { expect, it } from 'vitest'
import { fairShare } from './fair-share.ts'

const LIMITS = { enough: 1_000, all: 200_000 }
const owners = (count: number, size: number) => Array<number>(count).fill(size)

it('lets everybody teach all where nobody has much more than others', () => {
  expect(fairShare(owners(1_000, 30), LIMITS)).toEqual({ most: 30, kept: 1 })
  expect(fairShare(owners(10, 10_000), LIMITS)).toEqual({ most: 10_000, kept: 1 })
  expect(fairShare(owners(3, 10_000), LIMITS)).toEqual({ most: 10_000, kept: 1 })
  expect(fairShare(owners(60, 1_000), LIMITS)).toEqual({ most: 1_000, kept: 1 })
})

it('lets one owner teach a hundredth at most, however much it has', () => {
  const share = (flood: number) => fairShare([...owners(330, 30), flood], LIMITS)
  expect(share(20_000)).toEqual({ most: 100, kept: 1 })
  expect(share(2_000_000)).toEqual(share(20_000))
})

it('lets one of ten owners teach no more than the others, however much it has', () => {
  expect(fairShare([...owners(9, 500), 1_000_000], LIMITS).most).toBe(500)
})

it('lets two owners teach half each, and a single one all, where there is not enough otherwise', () => {
  expect(fairShare([5_000, 100_000], LIMITS).most).toBe(5_000)
  expect(fairShare([5_000], LIMITS).most).toBe(5_000)
})

it('always takes a few of everybody', () => {
  expect(fairShare([...owners(1_500, 1), 50], LIMITS).most).toBe(20)
  expect(fairShare([30, 3], { enough: 10, all: 100 }).most).toBe(20)
})

it('thins a market that is larger than what is read', () => {
  expect(fairShare(owners(10_000, 100), LIMITS)).toEqual({ most: 100, kept: 0.2 })
})

it('knows what to do with an empty market', () => {
  expect(fairShare([], LIMITS)).toEqual({ most: 20, kept: 1 })
})
