import { expect, test } from 'vitest'
import { differenceOf, scoresOf } from './scores.ts'
import type { Query } from './sets.ts'

const query = (grades: Record<string, number>): Query => ({
  id: 'q',
  text: 'anything',
  category: undefined,
  ceiling: undefined,
  language: 'en',
  split: 'dev',
  grades: new Map(Object.entries(grades)),
})

test('the best possible list scores 1, and one that has the best last less', () => {
  const queries = [query({ a: 3, b: 1, c: 0 })]
  const best = [['a', 'b', 'c']]
  expect(scoresOf(queries, best)).toEqual({ ndcg: 1, condensed: 1, recall: 1, judged: 1 })
  const worst = [['c', 'b', 'a']]
  const { ndcg } = scoresOf(queries, worst)
  // Gains 7 and 1 at places 3 and 2, to 7 and 1 at places 1 and 2.
  expect(ndcg).toBeCloseTo((1 / Math.log2(3) + 7 / 2) / (7 + 1 / Math.log2(3)), 12)
})

test('what nobody judged counts as wrong, and is passed over in the condensed score', () => {
  const queries = [query({ a: 3 })]
  const lists = [['unknown', 'a']]
  const { ndcg, condensed, judged } = scoresOf(queries, lists)
  expect(ndcg).toBeCloseTo(1 / Math.log2(3), 12)
  expect(condensed).toBe(1)
  expect(judged).toBe(0.5)
})

test('recall counts grades from 2 on among the first hundred', () => {
  const queries = [query({ a: 3, b: 2, c: 1 })]
  const deep = ['a', ...Array.from({ length: 99 }, (_, n) => `other ${n}`), 'b']
  expect(scoresOf(queries, [deep]).recall).toBe(0.5)
})

test('questions to which nothing is right are left out', () => {
  const queries = [query({ a: 0 }), query({ a: 3 })]
  const lists = [['a'], ['a']]
  expect(scoresOf(queries, lists)).toEqual({ ndcg: 1, condensed: 1, recall: 1, judged: 1 })
})

test('a difference counts questions that became better and worse, and says how sure it is', () => {
  const queries = Array.from({ length: 20 }, () => query({ a: 3 }))
  const found = queries.map(() => ['a'])
  const missed = queries.map((_, n) => (n < 15 ? ['unknown', 'a'] : ['a']))
  const { better, worse, mean, interval } = differenceOf(queries, found, missed)
  expect({ better, worse }).toEqual({ better: 15, worse: 0 })
  expect(mean).toBeCloseTo(0.75 * (1 - 1 / Math.log2(3)), 12)
  expect(interval[0]).toBeGreaterThan(0)
  expect(interval[0]).toBeLessThan(mean)
  expect(interval[1]).toBeGreaterThan(mean)
})
