// Rule → tests → result. The report holds no times and is sorted, so that it changes only when coverage does.
import type { Decision } from './decisions.ts'
import { isLong, type TestCase } from './results.ts'
import { idOf, nameRule, withoutRuleIds } from './rule-ids.ts'

export interface Rule {
  id: string
  /** What the interface says. */
  text: string
}

/** The rules of a rules.tsv, in its order. */
export function readRules(tsv: string): Rule[] {
  const [, ...rows] = tsv.trim().split('\n')
  return rows.map((row) => {
    const [id = '', , text = ''] = row.split('\t')
    return { id, text }
  })
}

/** One line for each test that names an unknown rule. */
export function unknownRules(rules: string[], cases: TestCase[]): string[] {
  const known = new Set(rules)
  return cases.flatMap(({ file, title, rules: named }) =>
    named
      .filter((name) => !known.has(idOf(name)))
      .map((name) => `${idOf(name)} is not in rules.tsv, but named by ${file}: ${title}`),
  )
}

/** The rules that `npm test` would not notice broken. */
export const heldByLongTestsAlone = (rules: string[], cases: TestCase[]): string[] =>
  rules.filter((id) => {
    const naming = cases.filter((one) => nameRule(one.rules, id))
    return naming.length > 0 && naming.every(isLong)
  })

/** The same with and without the long tests. */
export function conformanceReport(
  rules: readonly Rule[],
  decisions: readonly Decision[],
  all: TestCase[],
): string {
  const cases = all.filter((one) => !isLong(one))
  const decided = new Set(decisions.map(({ id }) => id))
  const rows = rules.map(({ id }) => readRow(id, decided.has(id), cases))
  const areas = [...new Set(rules.map(({ id }) => areaOf(id)))].map((area) => ({
    area,
    rows: rows.filter(({ id }) => areaOf(id) === area),
  }))
  return [
    '<!-- biome-ignore-all format: written by npm test, padded columns would change with every test -->',
    '',
    '# Conformance',
    '',
    'Which test holds which rule of [rules.tsv](rules.tsv). A full `npm test` writes this file: do not edit it.',
    'A rule counts as held when a test names it and every test that names it passes. Where we decided otherwise than the interface says, [the decision](#decided-otherwise) stands instead and counts apart; its tests show what is so.',
    '',
    '| area | rules | held | decided otherwise | missing |',
    '|---|---|---|---|---|',
    ...areas.map(({ area, rows }) => countsOf(`[${area}](#${area.toLowerCase()})`, rows)),
    countsOf('all', rows),
    ...decidedSection(rules, decisions),
    ...areas.flatMap(areaSection),
    '',
  ].join('\n')
}

interface Row {
  id: string
  tests: string[]
  result: 'pass' | 'decided otherwise' | 'fail' | 'skipped' | 'none'
}

const areaOf = (id: string) => id.slice(0, id.indexOf('-'))

function readRow(id: string, isDecided: boolean, cases: TestCase[]): Row {
  const naming = cases.filter(({ rules }) => nameRule(rules, id))
  const tests = [...new Set(naming.map(({ file, title }) => `\`${file}\` ${plain(title)}`))].sort()
  const outcomes = new Set(naming.map(({ outcome }) => outcome))
  const result = outcomes.has('failed')
    ? 'fail'
    : outcomes.has('passed')
      ? isDecided
        ? 'decided otherwise'
        : 'pass'
      : naming.length
        ? 'skipped'
        : 'none'
  return { id, tests, result }
}

const plain = (title: string) => withoutRuleIds(title).replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')

function countsOf(name: string, rows: Row[]): string {
  const [held = 0, otherwise = 0] = (['pass', 'decided otherwise'] as const).map(
    (wanted) => rows.filter(({ result }) => result === wanted).length,
  )
  return `| ${name} | ${rows.length} | ${held} | ${otherwise} | ${rows.length - held - otherwise} |`
}

function decidedSection(rules: readonly Rule[], decisions: readonly Decision[]): string[] {
  return [
    '',
    '## Decided otherwise',
    '',
    '| rule | the interface | here |',
    '|---|---|---|',
    ...rules.flatMap(({ id, text }) =>
      decisions
        .filter((one) => one.id === id)
        .map(
          ({ decision, documented }) =>
            `| ${id} | ${text.replaceAll('|', '\\|')} | ${decision} ([${documented.split('#')[0]}](../${documented})) |`,
        ),
    ),
  ]
}

function areaSection({ area, rows }: { area: string; rows: Row[] }): string[] {
  const named = rows.filter(({ result }) => result !== 'none')
  const unnamed = rows.filter(({ result }) => result === 'none').map(({ id }) => id)
  return [
    '',
    `## ${area}`,
    ...(named.length ? ['', '| rule | result | tests |', '|---|---|---|'] : []),
    ...named.map(({ id, tests, result }) => `| ${id} | ${result} | ${tests.join('<br>')} |`),
    ...(unnamed.length ? ['', `No test names ${unnamed.join(', ')}.`] : []),
  ]
}
