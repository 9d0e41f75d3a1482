import { expect, test } from 'vitest'
import { Touched } from './touched.ts'

const listed = ({ slots, scores, count }: Touched) =>
  Array.from({ length: count }, (_, i) => [slots[i], scores[i]])

test('keeps slots in the order in which they came, and adds up their scores', () => {
  const touched = new Touched()
  touched.start(100)
  for (const slot of [64, 31, 32]) touched.add(slot, 0.5)
  touched.gain(31, 0.25)
  expect(listed(touched)).toEqual([
    [64, 0.5],
    [31, 0.75],
    [32, 0.5],
  ])
  expect([31, 32, 64].map((slot) => touched.has(slot))).toEqual([true, true, true])
  expect([0, 30, 33, 63, 65, 96].some((slot) => touched.has(slot))).toBe(false)
})

test('forgets all of them for the next question, however many slots there are by then', () => {
  const touched = new Touched()
  for (const end of [3_000, 3_000, 50_000, 10]) {
    touched.start(end)
    const all = Array.from({ length: end }, (_, slot) => slot)
    expect(all.filter((slot) => touched.has(slot))).toEqual([])
    for (const slot of all) touched.add(slot, slot)
    expect(touched.count).toBe(end)
    touched.gain(end - 1, 1)
    expect(touched.scores[end - 1]).toBe(end)
  }
})
