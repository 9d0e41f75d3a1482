// npm test: types, lint, contracts and unit tests on two cores, then the conformance report.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { conformanceReport, readRules, unknownRules } from './conformance.ts'
import { count, readSolidity, readVitest, type TestCase } from './results.ts'
import { solidityRules } from './solidity-rules.ts'
import { describe, runStep, type Step, type StepResult, skipped, stopAll, tick } from './steps.ts'

const HELP = `npm test                              everything, and writes conformance/report.md
npm test -- <path part>…              the vitest files whose path contains one of these
npm test -- --only <steps>            some of: types, lint, contracts, unit (comma separated)
npm test -- --only contracts <regexp> the Solidity tests whose name matches

Each step's full output is kept in node_modules/.cache/referrer-test/<step>.log.`

const root = dirname(import.meta.dirname)
const logs = join(root, 'node_modules', '.cache', 'referrer-test')
const vitestJson = join(logs, 'unit.json')
const contracts = join(root, 'contracts')
const rules = readRules(readFileSync(join(root, 'conformance', 'rules.tsv'), 'utf8'))
const CHOICES = ['types', 'lint', 'contracts', 'unit']

const tool = (path: string) => join(root, 'node_modules', path)
const hardhat = tool('hardhat/dist/src/cli.js')
const lineWith = (pattern: RegExp) => (output: string) =>
  output.split('\n').findLast((line) => pattern.test(line)) ?? ''

const { chosen, filters } = readArguments()
const cases: TestCase[] = []

const steps = {
  types: step('types', root, [tool('typescript/bin/tsc'), '--noEmit'], () => ''),
  lint: step(
    'lint',
    root,
    [tool('@biomejs/biome/bin/biome'), 'check', '--max-diagnostics=200'],
    lineWith(/^(Checked|Found \d+ error)/),
  ),
  compile: step('compile', contracts, [hardhat, 'build', '--no-tests'], lineWith(/^(Compiled|No contracts)/)),
  contracts: step(
    'contracts',
    contracts,
    [hardhat, 'test', 'solidity', '--no-compile', ...(filters.length ? ['--grep', filters.join('|')] : [])],
    (output) => take(readSolidity(output, 'contracts', rulesOfSolidity())),
  ),
  unit: step(
    'unit',
    root,
    [
      tool('vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${vitestJson}`,
      ...filters,
    ],
    () => take(readVitest(readFileSync(vitestJson, 'utf8'), root)),
  ),
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopAll(signal)
    process.exit(128 + constants.signals[signal])
  })
}
mkdirSync(logs, { recursive: true })
rmSync(vitestJson, { force: true })

const stopTicking = tick()
const results = await runAll()
stopTicking()
finish(results)

function step(name: string, cwd: string, command: string[], summary: Step['summary']): Step {
  return { name, cwd, command, summary }
}

/** What the tests rely on first; then the tests, Solidity beside TypeScript. */
async function runAll(): Promise<StepResult[]> {
  const run = (one: Step) => runStep(one, logs)
  const tests = [steps.contracts, steps.unit].filter(({ name }) => chosen.has(name))
  const checks = [steps.types, steps.lint].filter(({ name }) => chosen.has(name))
  const first = await Promise.all([...(tests.length ? [steps.compile] : []), ...checks].map(run))
  const isCompiled = first.every(({ name, ok }) => name !== 'compile' || ok)
  const second = isCompiled
    ? await Promise.all(tests.map(run))
    : tests.map(({ name }) => skipped(name, 'not run: the contracts do not compile'))
  return [...first, ...second]
}

function take(taken: TestCase[]): string {
  cases.push(...taken)
  const [passed, failed, left] = (['passed', 'failed', 'skipped'] as const).map((outcome) =>
    count(taken, outcome),
  )
  if (!passed && !failed) throw new Error('no test was run')
  return `${passed} passed, ${failed} failed${left ? `, ${left} skipped` : ''}`
}

function rulesOfSolidity() {
  const files = globSync('test/**/*.sol', { cwd: contracts })
  return solidityRules(files.map((file) => ({ file, text: readFileSync(join(contracts, file), 'utf8') })))
}

function finish(results: StepResult[]) {
  const failed = results.filter(({ ok }) => !ok)
  for (const { name, output } of failed) if (output) console.log(`\n── ${name} ──\n${output.trimEnd()}`)
  const unknown = unknownRules(rules, cases)
  for (const line of unknown) console.log(`\n${line}`)
  if (filters.length === 0 && results.every(({ name, ok }) => ok || name !== 'compile')) writeReport()

  console.log(`\n${results.map(describe).join('\n')}`)
  if (failed.length) console.log(`failed: ${failed.map(({ name }) => name).join(', ')}`)
  for (const { file, title } of cases.filter(({ outcome }) => outcome === 'failed')) {
    console.log(`  ✗ ${file} › ${title}`)
  }
  if (unknown.length) console.log('failed: tests name rules that are not in conformance/rules.tsv')
  if (chosen.has('contracts') || chosen.has('unit')) {
    console.log(`\n${count(cases, 'passed')} passed, ${count(cases, 'failed')} failed`)
  }
  process.exitCode = failed.length || unknown.length ? 1 : 0
}

/** Only when both kinds of tests have run to the end: a part would show rules as lost that are not. */
function writeReport() {
  const kinds = [/\.sol$/, /\.test\.ts$/]
  if (!kinds.every((kind) => cases.some(({ file }) => kind.test(file)))) return
  const path = join(root, 'conformance', 'report.md')
  const report = conformanceReport(rules, cases)
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (report === before) return
  writeFileSync(path, report)
  console.log('\nconformance/report.md has changed: commit it with the tests.')
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help) {
      console.log(HELP)
      process.exit(0)
    }
    const only = values.only?.split(',') ?? (positionals.length ? ['unit'] : CHOICES)
    const wrong = only.find((name) => !CHOICES.includes(name))
    if (wrong !== undefined) throw new Error(`there is no step "${wrong}"`)
    if (positionals.length && only.length > 1) throw new Error('a filter goes with one step')
    return { chosen: new Set(only), filters: positionals }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`)
    process.exit(2)
  }
}
