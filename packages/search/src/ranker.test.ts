import { expect, test } from 'vitest'
import { type Aim, aimAt } from './ranker.ts'
import { cosine } from './vector.ts'

const QUERY = Int8Array.from([127, 0, 0])
const FOUND = Int8Array.from([0, 127, 0])
const guided = (words: number) => aimAt(QUERY, [{ words, vector: FOUND }]) as Aim

test('the better words match, the less the vector counts, and the more it moves to what they found', () => {
  const aims = [0.1, 0.2, 0.3, 0.5, 0.9].map(guided)
  const shares = aims.map(({ share }) => share)
  expect(shares).toEqual(shares.toSorted((a, b) => b - a))
  const moved = aims.map(({ vector }) => cosine(vector, FOUND))
  expect(moved).toEqual(moved.toSorted((a, b) => a - b))
})

test('where no word matches, the query itself is searched for', () => {
  const aim = aimAt(QUERY, [])
  expect(aim?.vector).toEqual(QUERY)
  expect(aim?.share).toBe(0.4)
})

test('a query that the model does not understand is searched for by what its words found, with the least share', () => {
  const aim = aimAt(new Int8Array(3), [{ words: 0.1, vector: FOUND }])
  expect(aim?.vector).toEqual(FOUND)
  expect(aim?.share).toBe(0.04)
  expect(aimAt(new Int8Array(3), [])).toBeUndefined()
  expect(aimAt(new Int8Array(3), [{ words: 0.1, vector: undefined }])).toBeUndefined()
})
