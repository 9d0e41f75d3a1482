import { describe, expect, it } from 'vitest'
import { conformanceReport, heldByLongTestsAlone, readRules, unknownRules } from './conformance.ts'
import type { TestCase } from './results.ts'
import { ruleIdsIn } from './rule-ids.ts'

const rules = readRules(
  'id\tsurface\trule\tcheck\nONE-01\thttp\ta\tb\nONE-02\thttp\ta\tb\nTWO-01\tchain\ta\tb\n',
)
const testCase = (title: string, outcome: TestCase['outcome'] = 'passed'): TestCase => ({
  file: 'a.test.ts',
  title,
  outcome,
  rules: ruleIdsIn(title),
})

describe('rule ids in a title', () => {
  it('are those in square brackets, one or several', () => {
    expect(ruleIdsIn('refuses [ONE-29]')).toEqual(['ONE-29'])
    expect(ruleIdsIn('refuses [ONE-29, ONE-30] and [TWO-01]')).toEqual(['ONE-29', 'ONE-30', 'TWO-01'])
  })

  it('are not found in other brackets or in plain words', () => {
    expect(ruleIdsIn('takes an [1-9] of ONE-29 [see below]')).toEqual([])
  })
})

describe('the report', () => {
  it('counts a rule only when every test that names it passes', () => {
    const report = conformanceReport(rules, [
      testCase('one [ONE-01]'),
      testCase('two [ONE-02]'),
      testCase('three [ONE-02]', 'failed'),
    ])
    expect(report).toContain('ONE 1 of 2')
    expect(report).toContain('| ONE-01 | pass | `a.test.ts` one |')
    expect(report).toContain('| ONE-02 | fail | `a.test.ts` three<br>`a.test.ts` two |')
    expect(report).toContain('| all | 1 of 3 |')
  })

  it('lists the rules that no test names', () => {
    expect(conformanceReport(rules, [testCase('one [ONE-01]')])).toContain('No test names TWO-01.')
  })

  it('does not count a rule whose tests were all skipped', () => {
    const report = conformanceReport(rules, [testCase('one [TWO-01]', 'skipped')])
    expect(report).toContain('TWO 0 of 1')
    expect(report).toContain('| TWO-01 | skipped |')
  })

  it('is the same with and without the long tests', () => {
    const long: TestCase = { ...testCase('long [ONE-02]'), file: 'b.long.test.ts' }
    expect(conformanceReport(rules, [testCase('one [ONE-01]'), long])).toBe(
      conformanceReport(rules, [testCase('one [ONE-01]')]),
    )
  })

  it('does not depend on the order in which tests ended', () => {
    const cases = [testCase('one [ONE-01]'), testCase('two | three [ONE-01]'), testCase('four [TWO-01]')]
    expect(conformanceReport(rules, cases.toReversed())).toBe(conformanceReport(rules, cases))
  })
})

it('names the tests that speak of rules there are not', () => {
  expect(unknownRules(rules, [testCase('one [ONE-01]'), testCase('two [ONE-99]')])).toEqual([
    'ONE-99 is not in rules.tsv, but named by a.test.ts: two [ONE-99]',
  ])
})

it('names the rules that long tests alone hold', () => {
  const long = (title: string): TestCase => ({ ...testCase(title), file: 'b.long.test.ts' })
  const cases = [testCase('one [ONE-01]'), long('again [ONE-01]'), long('two [ONE-02]')]
  expect(heldByLongTestsAlone(rules, cases)).toEqual(['ONE-02'])
})
