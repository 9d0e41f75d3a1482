import { expect, it } from 'vitest'
import type { TestCase } from './results.ts'
import { type Findings, reasonsToFail } from './verdict.ts'

const GOOD: Findings = { steps: [], unsteady: [], unheld: [], unknown: [], contradicted: [] }
const unsteady = (count: number): TestCase[] =>
  Array.from({ length: count }, (_, at) => ({
    file: 'a.test.ts',
    title: `waits ${at}`,
    outcome: 'failed',
    rules: [],
  }))

it('a run passes with two tests that failed and then passed alone, and fails with a third', () => {
  for (const count of [0, 1, 2]) expect(reasonsToFail({ ...GOOD, unsteady: unsteady(count) })).toEqual([])
  expect(reasonsToFail({ ...GOOD, unsteady: unsteady(3) })).toEqual([
    'failed: 3 tests are unsteady, and at most 2 may be',
  ])
})

it('a run fails with a step, with rules that long tests alone hold or that there are not, and with a contradicted decision', () => {
  expect(reasonsToFail({ ...GOOD, steps: ['types', 'unit'] })).toEqual(['failed: types, unit'])
  expect(reasonsToFail({ ...GOOD, unheld: ['ONE-01'] })).toEqual(['failed: only long tests name ONE-01'])
  for (const finding of ['unknown', 'contradicted'] as const) {
    expect(reasonsToFail({ ...GOOD, [finding]: ['ONE-99 …'] })).toHaveLength(1)
  }
})
