// Parses the output of the test tools into one list of cases.
import { relative } from 'node:path'
import { ruleNamesIn } from './rule-ids.ts'
import type { RuleIdsOf } from './solidity-rules.ts'

export interface TestCase {
  file: string
  title: string
  outcome: 'passed' | 'failed' | 'skipped'
  /** As it names them: `REV-29`, `ERR-03 otherwise`. */
  rules: string[]
  /** It failed with random values, and would have others in a second run. */
  isRandom?: true
}

interface VitestReport {
  testResults: {
    name: string
    status: string
    startTime: number
    endTime: number
    assertionResults: {
      ancestorTitles: string[]
      title: string
      status: string
      failureMessages?: string[]
    }[]
  }[]
}

/** Vitest's JSON report. A file that did not load has no cases and counts as one that failed. */
export function readVitest(json: string, root: string): TestCase[] {
  const report = JSON.parse(json) as VitestReport
  return report.testResults.flatMap(({ name, status, assertionResults }): TestCase[] => {
    const file = relative(root, name)
    const cases = assertionResults.map((result): TestCase => {
      const title = [...result.ancestorTitles, result.title].join(' › ')
      const outcome = result.status === 'passed' || result.status === 'failed' ? result.status : 'skipped'
      const isRandom = [title, ...(result.failureMessages ?? [])].some((text) => /\bseed\b/i.test(text))
      return {
        file,
        title,
        outcome,
        rules: ruleNamesIn(title),
        ...(outcome === 'failed' && isRandom && { isRandom }),
      }
    })
    if (status === 'failed' && !cases.some(({ outcome }) => outcome === 'failed')) {
      cases.push({ file, title: 'the file runs', outcome: 'failed', rules: [] })
    }
    return cases
  })
}

/** The vitest files that took longest, with their seconds, slowest first. */
export function slowestFiles(json: string, root: string, most: number): { file: string; seconds: number }[] {
  return (JSON.parse(json) as VitestReport).testResults
    .map(({ name, startTime, endTime }) => ({
      file: relative(root, name),
      seconds: (endTime - startTime) / 1_000,
    }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, most)
}

/** What vitest says of the failures after it has listed all tests. */
export const failuresIn = (output: string): string =>
  output.slice(output.search(/^.* Failed (?:Tests|Suites) /m)).trimEnd()

/** More failures than in so many files are no accident. */
const MOST_REPEATED = 5

/**
 * The files of a whole run that are worth a second look, if there are few. None when a test found a counterexample in random values, or
 * something outside of a test went wrong: a second run would hide that.
 */
export function filesToRepeat(step: { ok: boolean; output: string }, cases: TestCase[]): string[] {
  if (step.ok || /Unhandled (Errors?|Rejection)/.test(step.output)) return []
  const failed = cases.filter(({ file, outcome }) => outcome === 'failed' && file.endsWith('.test.ts'))
  const files = [...new Set(failed.map(({ file }) => file))]
  return files.length > MOST_REPEATED || failed.some(({ isRandom }) => isRandom) ? [] : files
}

/**
 * The output of `hardhat test solidity`: a line `  test/A.t.sol:ATest` opens a suite, then `✔ name(…)` passed,
 * `1) name(…)` failed, `- name(…)` was skipped. A `setUp` that fails stands for every test of its suite.
 */
export function readSolidity(output: string, folder: string, rulesOf: RuleIdsOf): TestCase[] {
  const cases: TestCase[] = []
  let file = ''
  let suite = ''
  for (const line of output.split('\n')) {
    if (/^ {2}\d+ passing/.test(line)) break
    const opened = /^ {2}(\S+\.sol):(\w+)$/.exec(line)
    if (opened) [, file = '', suite = ''] = opened
    const [, mark, name] = /^ {4}(✔|-|\d+\)) (\w+)\(/.exec(line) ?? []
    if (!mark || !name) continue
    const outcome = mark === '✔' ? 'passed' : mark === '-' ? 'skipped' : 'failed'
    cases.push({
      file: `${folder}/${file}`,
      title: `${suite}.${name}`,
      outcome,
      rules: rulesOf(file, suite, name),
    })
  }
  for (const [outcome, word] of [
    ['passed', 'passing'],
    ['failed', 'failing'],
  ] as const) {
    const said = Number(new RegExp(`^ {2}(\\d+) ${word}`, 'm').exec(output)?.[1] ?? 0)
    const read = count(cases, outcome)
    if (said !== read) throw new Error(`Hardhat reports ${said} ${word}, but its output lists ${read}.`)
  }
  return cases
}

/** Of a file that runs with `npm test -- --all` only. */
export const isLong = ({ file }: { file: string }): boolean => file.endsWith('.long.test.ts')

export const count = (cases: TestCase[], outcome: TestCase['outcome']) =>
  cases.filter((one) => one.outcome === outcome).length
