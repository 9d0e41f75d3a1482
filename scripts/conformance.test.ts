import { describe, expect, it } from 'vitest'
import { conformanceReport, heldByLongTestsAlone, readRules, unknownRules } from './conformance.ts'
import type { Decision } from './decisions.ts'
import type { TestCase } from './results.ts'
import { ruleNamesIn } from './rule-ids.ts'

const rules = readRules(
  'id\tsurface\trule\tcheck\nONE-01\thttp\tPays.\tb\nONE-02\thttp\tRefuses.\tb\nTWO-01\tchain\tEmits.\tb\n',
)
const ids = rules.map(({ id }) => id)
const ONE_DECIDED: Decision[] = [{ id: 'ONE-02', decision: 'It waits.', documented: 'docs/api.md#waiting' }]
/** Nothing is decided otherwise. */
const reportOf = (cases: TestCase[]) => conformanceReport(rules, [], cases)
const testCase = (title: string, outcome: TestCase['outcome'] = 'passed'): TestCase => ({
  file: 'a.test.ts',
  title,
  outcome,
  rules: ruleNamesIn(title),
})

describe('rule ids in a title', () => {
  it('are those in square brackets, one or several', () => {
    expect(ruleNamesIn('refuses [ONE-29]')).toEqual(['ONE-29'])
    expect(ruleNamesIn('refuses [ONE-29, ONE-30] and [TWO-01]')).toEqual(['ONE-29', 'ONE-30', 'TWO-01'])
  })

  it('may say that something else is held than the rule says', () => {
    expect(ruleNamesIn('waits [ONE-29 otherwise, ONE-30]')).toEqual(['ONE-29 otherwise', 'ONE-30'])
    expect(ruleNamesIn('waits [ONE-29 perhaps]')).toEqual([])
  })

  it('are not found in other brackets or in plain words', () => {
    expect(ruleNamesIn('takes an [1-9] of ONE-29 [see below]')).toEqual([])
  })
})

describe('the report', () => {
  it('counts a rule only when every test that names it passes', () => {
    const report = reportOf([
      testCase('one [ONE-01]'),
      testCase('two [ONE-02]'),
      testCase('three [ONE-02]', 'failed'),
    ])
    expect(report).toContain('| [ONE](#one) | 2 | 1 | 0 | 1 |')
    expect(report).toContain('| ONE-01 | pass | `a.test.ts` one |')
    expect(report).toContain('| ONE-02 | fail | `a.test.ts` three<br>`a.test.ts` two |')
    expect(report).toContain('| all | 3 | 1 | 0 | 2 |')
  })

  it('counts apart what is decided otherwise, never as held, and tells what the interface says and what is so', () => {
    const report = conformanceReport(rules, ONE_DECIDED, [
      testCase('one [ONE-01]'),
      testCase('waits [ONE-02 otherwise]'),
    ])
    expect(report).toContain('| [ONE](#one) | 2 | 1 | 1 | 0 |')
    expect(report).toContain('| ONE-02 | decided otherwise | `a.test.ts` waits |')
    expect(report).toContain('| ONE-02 | Refuses. | It waits. ([docs/api.md](../docs/api.md#waiting)) |')
  })

  it('counts a decision as missing while no test shows it, or one of its tests fails', () => {
    for (const cases of [[], [testCase('waits [ONE-02 otherwise]', 'failed')]]) {
      expect(conformanceReport(rules, ONE_DECIDED, cases)).toContain('| [ONE](#one) | 2 | 0 | 0 | 2 |')
    }
  })

  it('lists the rules that no test names', () => {
    expect(reportOf([testCase('one [ONE-01]')])).toContain('No test names TWO-01.')
  })

  it('does not count a rule whose tests were all skipped', () => {
    const report = reportOf([testCase('one [TWO-01]', 'skipped')])
    expect(report).toContain('| [TWO](#two) | 1 | 0 | 0 | 1 |')
    expect(report).toContain('| TWO-01 | skipped |')
  })

  it('is the same with and without the long tests', () => {
    const long: TestCase = { ...testCase('long [ONE-02]'), file: 'b.long.test.ts' }
    expect(reportOf([testCase('one [ONE-01]'), long])).toBe(reportOf([testCase('one [ONE-01]')]))
  })

  it('does not depend on the order in which tests ended', () => {
    const cases = [testCase('one [ONE-01]'), testCase('two | three [ONE-01]'), testCase('four [TWO-01]')]
    expect(reportOf(cases.toReversed())).toBe(reportOf(cases))
  })
})

it('names the tests that speak of rules there are not', () => {
  expect(unknownRules(ids, [testCase('one [ONE-01]'), testCase('two [ONE-99]')])).toEqual([
    'ONE-99 is not in rules.tsv, but named by a.test.ts: two [ONE-99]',
  ])
})

it('names the rules that long tests alone hold', () => {
  const long = (title: string): TestCase => ({ ...testCase(title), file: 'b.long.test.ts' })
  const cases = [testCase('one [ONE-01]'), long('again [ONE-01]'), long('two [ONE-02]')]
  expect(heldByLongTestsAlone(ids, cases)).toEqual(['ONE-02'])
})
