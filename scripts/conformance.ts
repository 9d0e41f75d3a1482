// Rule → tests → result. The report holds no times and is sorted, so that it changes only when coverage does.
import { isLong, type TestCase } from './results.ts'
import { withoutRuleIds } from './rule-ids.ts'

/** The ids of a rules.tsv, in its order. */
export function readRules(tsv: string): string[] {
  const [, ...rows] = tsv.trim().split('\n')
  return rows.map((row) => row.split('\t')[0] ?? '')
}

/** One line for each test that names an unknown rule. */
export function unknownRules(rules: string[], cases: TestCase[]): string[] {
  const known = new Set(rules)
  return cases.flatMap(({ file, title, rules: named }) =>
    named
      .filter((id) => !known.has(id))
      .map((id) => `${id} is not in rules.tsv, but named by ${file}: ${title}`),
  )
}

/** The rules that `npm test` would not notice broken. */
export const heldByLongTestsAlone = (rules: string[], cases: TestCase[]): string[] =>
  rules.filter((id) => {
    const naming = cases.filter((one) => one.rules.includes(id))
    return naming.length > 0 && naming.every(isLong)
  })

/** The same with and without the long tests. */
export function conformanceReport(rules: string[], all: TestCase[]): string {
  const cases = all.filter((one) => !isLong(one))
  const areas = [...new Set(rules.map(areaOf))].map((area) => {
    const rows = rules.filter((id) => areaOf(id) === area).map((id) => readRow(id, cases))
    return { area, rows, passing: rows.filter(({ result }) => result === 'pass').length }
  })
  const passing = areas.reduce((sum, area) => sum + area.passing, 0)
  return [
    '<!-- biome-ignore-all format: written by npm test, padded columns would change with every test -->',
    '',
    '# Conformance',
    '',
    'Which test holds which rule of [rules.tsv](rules.tsv). A full `npm test` writes this file: do not edit it.',
    'A rule counts when a test names it and every test that names it passes.',
    '',
    '| area | rules held |',
    '|---|---|',
    ...areas.map(
      ({ area, rows, passing }) => `| [${area}](#${area.toLowerCase()}) | ${passing} of ${rows.length} |`,
    ),
    `| all | ${passing} of ${rules.length} |`,
    ...areas.flatMap(areaSection),
    '',
  ].join('\n')
}

interface Row {
  id: string
  tests: string[]
  result: 'pass' | 'fail' | 'skipped' | 'none'
}

const areaOf = (id: string) => id.slice(0, id.indexOf('-'))

function readRow(id: string, cases: TestCase[]): Row {
  const naming = cases.filter(({ rules }) => rules.includes(id))
  const tests = [...new Set(naming.map(({ file, title }) => `\`${file}\` ${plain(title)}`))].sort()
  const outcomes = new Set(naming.map(({ outcome }) => outcome))
  const result = outcomes.has('failed')
    ? 'fail'
    : outcomes.has('passed')
      ? 'pass'
      : naming.length
        ? 'skipped'
        : 'none'
  return { id, tests, result }
}

const plain = (title: string) => withoutRuleIds(title).replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')

function areaSection({ area, rows, passing }: { area: string; rows: Row[]; passing: number }): string[] {
  const named = rows.filter(({ result }) => result !== 'none')
  const unnamed = rows.filter(({ result }) => result === 'none').map(({ id }) => id)
  return [
    '',
    `## ${area}`,
    '',
    `${area} ${passing} of ${rows.length}`,
    ...(named.length ? ['', '| rule | result | tests |', '|---|---|---|'] : []),
    ...named.map(({ id, tests, result }) => `| ${id} | ${result} | ${tests.join('<br>')} |`),
    ...(unnamed.length ? ['', `No test names ${unnamed.join(', ')}.`] : []),
  ]
}
