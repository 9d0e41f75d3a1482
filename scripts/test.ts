// npm test: types, lint, contracts and vitest's tests on two cores, then the conformance report. The long tests run with --all.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { findChromium, NO_CHROMIUM } from '../packages/console/test/harness/chromium.ts'
import { HELP, readArguments, type Wanted } from './arguments.ts'
import { conformanceReport, heldByLongTestsAlone, readRules, unknownRules } from './conformance.ts'
import { contradictions, readDecisions } from './decisions.ts'
import {
  count,
  failuresIn,
  filesToRepeat,
  isLong,
  readSolidity,
  readVitest,
  slowestFiles,
  type TestCase,
} from './results.ts'
import { nameRule } from './rule-ids.ts'
import { type Source, titlePattern, vitestFilesOf } from './rule-tests.ts'
import { solidityRules, solidityTestsOf } from './solidity-rules.ts'
import { describe, runStep, type Step, type StepResult, skipped, stopAll, tick } from './steps.ts'
import { reasonsToFail } from './verdict.ts'

const SLOWEST = 10
/** What differed between the settings of the tests and those of `npm start` when all rules' tests ran with both: cheap enough to run twice. */
const SANDBOX_TESTS = [
  ...['conventions', 'discover', 'discover-slates', 'escrows-status', 'manifest', 'merchants-describe'],
  ...['reviews-purchases', 'votes-worth'],
].map((name) => `packages/service/test/http/${name}.test.ts`)
const AS_STARTED = ', with the settings of npm start'
const BROWSER_TESTS = 'packages/console/test/console.long.test.ts'

const root = dirname(import.meta.dirname)
const logs = join(root, 'node_modules', '.cache', 'referrer-test')
const vitestJson = join(logs, 'unit.json')
const sandboxJson = join(logs, 'sandbox.json')
const repeatedJson = join(logs, 'repeated.json')
const contracts = join(root, 'contracts')
const reportPath = join(root, 'conformance', 'report.md')
const inConformance = (file: string) => readFileSync(join(root, 'conformance', file), 'utf8')
const rules = readRules(inConformance('rules.tsv'))
const ids = rules.map(({ id }) => id)
const decisions = readDecisions(inConformance('decisions.tsv'))

const tool = (path: string) => join(root, 'node_modules', path)
const hardhat = tool('hardhat/dist/src/cli.js')
const lineWith = (pattern: RegExp) => (output: string) =>
  output.split('\n').findLast((line) => pattern.test(line)) ?? ''

const wanted = wantedOrExit()
const isWhole = wanted.filters.length === 0 && wanted.rules.length === 0
const isShort = isWhole && !wanted.all
const cases: TestCase[] = []
/** Tests that failed and passed when their files ran again. */
const unsteady: TestCase[] = []
const steps = chooseSteps()

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

function wantedOrExit(): Wanted {
  try {
    const read = readArguments(process.argv.slice(2), ids)
    if (!read.help) return read
    console.log(HELP)
    process.exit(0)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`)
    process.exit(2)
  }
}

interface Steps {
  types?: Step
  lint?: Step
  contracts?: Step
  unit?: Step
}

function chooseSteps(): Steps {
  if (wanted.rules.length === 0) {
    const grep = wanted.filters.length ? ['--grep', wanted.filters.join('|')] : []
    const leftOut = isShort ? ['--exclude', '**/*.long.test.ts'] : []
    const unit = vitest([...leftOut, ...wanted.filters])
    const all = { types: types(), lint: lint(), contracts: solidity(grep), unit }
    return Object.fromEntries(Object.entries(all).filter(([name]) => wanted.steps.has(name)))
  }
  const inSolidity = solidityTestsOf(wanted.rules, soliditySources())
  const inVitest = vitestFilesOf(wanted.rules, vitestSources(), readReport())
  const { files, tests } = inSolidity
  return {
    ...(files.length && { contracts: solidity([...files, '--grep', `\\b(?:${tests.join('|')})\\b`]) }),
    ...(inVitest.length && { unit: vitest([...inVitest, '-t', titlePattern(wanted.rules)]) }),
  }
}

/**
 * Checkers beside each other do much of the work twice, and a heap that is cleaned up rarely halves the rest: the tests need the cores. What
 * has not changed since the run before is not checked again.
 */
function types(): Step {
  return {
    name: 'types',
    cwd: root,
    command: [
      ...[tool('typescript/bin/tsc'), '--noEmit', '--checkers', '1'],
      ...['--incremental', '--tsBuildInfoFile', join(logs, 'types.tsbuildinfo')],
    ],
    env: { GOGC: '400' },
    summary: () => '',
  }
}

function lint(): Step {
  return {
    name: 'lint',
    cwd: root,
    command: [tool('@biomejs/biome/bin/biome'), 'check', '--max-diagnostics=200'],
    summary: lineWith(/^(Checked|Found \d+ error)/),
  }
}

/** Also proves that what is committed of the compiled contracts is what the sources give. */
function compile(): Step {
  return {
    name: 'compile',
    cwd: contracts,
    command: ['deploy/build.ts', '--check'],
    summary: lineWith(/contracts\/src gives|do not compile/),
  }
}

function solidity(args: string[]): Step {
  return {
    name: 'contracts',
    cwd: contracts,
    command: [hardhat, 'test', 'solidity', '--no-compile', ...args],
    summary: (output) => take(readSolidity(output, 'contracts', solidityRules(soliditySources()))),
  }
}

/** The first run on a machine without a browser installs one. */
function chromium(): Step {
  return {
    name: 'chromium',
    cwd: root,
    command: ['scripts/chromium.ts'],
    summary: lineWith(/browser tests/i),
  }
}

function needsChromium(): boolean {
  return (
    steps.unit !== undefined &&
    wanted.rules.length === 0 &&
    (wanted.all || wanted.filters.some((filter) => BROWSER_TESTS.includes(filter))) &&
    findChromium() === undefined
  )
}

/** Built once before the tests: each of the sandboxes that they start at the same time would build it otherwise. */
function buildConsole(): Step {
  return {
    name: 'console',
    cwd: root,
    command: ['packages/console/build.ts'],
    summary: () => '',
  }
}

/** Tests of rules once more, with the settings of `npm start`. What fails there has failed; what passes has been counted already. */
function sandboxSettings(files = SANDBOX_TESTS, name = 'sandbox', json = sandboxJson): Step {
  return {
    ...vitest(files, name, json),
    env: { RULES_SETTINGS: 'sandbox' },
    summary: () => {
      const read = readVitest(readFileSync(json, 'utf8'), root)
      const failed = read.filter(({ outcome }) => outcome === 'failed')
      cases.push(...failed.map((one) => ({ ...one, title: one.title + AS_STARTED })))
      return told(read)
    },
  }
}

async function runSandboxSettings(): Promise<StepResult[]> {
  const ran = await runStep(sandboxSettings(), logs)
  const failed = cases.filter(({ title }) => title.endsWith(AS_STARTED))
  return repeated(ran, failed, (files) => sandboxSettings(files, 'sandbox again', repeatedJson))
}

function vitest(args: string[], name = 'unit', json = vitestJson): Step {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${json}`]
  return {
    name,
    cwd: root,
    command: [tool('vitest/vitest.mjs'), 'run', ...reporters, ...args],
    summary: () => take(readVitest(readFileSync(json, 'utf8'), root)),
  }
}

/**
 * A whole run on a busy machine takes half an hour, and one test that is too strict about time would throw all of it away. So the files of a
 * few failures run once more, alone. What fails again has failed; what passes is named as unsteady, because either test or product has a race.
 */
async function repeated(
  step: StepResult,
  ran: TestCase[],
  stepFor: (files: string[]) => Step,
): Promise<StepResult[]> {
  const files = isWhole ? filesToRepeat(step, ran) : []
  if (files.length === 0) return [step]
  const dropped = new Set(ran.filter(({ file }) => files.includes(file)))
  console.log(`\n── ${step.name} ──\n${failuresIn(step.output)}\n`)
  cases.splice(0, cases.length, ...cases.filter((one) => !dropped.has(one)))
  const again = await runStep(stepFor(files), logs)
  const fails = (one: TestCase) =>
    cases.some(({ file, title, outcome }) => file === one.file && title === one.title && outcome === 'failed')
  unsteady.push(...[...dropped].filter((one) => one.outcome === 'failed' && !fails(one)))
  return [{ ...step, ok: again.ok }, again]
}

/** The unit tests, which take longest, need nothing of the rest: all else runs beside them. */
async function runAll(): Promise<StepResult[]> {
  const run = (step: Step | undefined) => (step ? [runStep(step, logs)] : [])
  const [rest, unit] = await Promise.all([runRest(), runUnit()])
  return [...rest, ...unit]

  async function runUnit(): Promise<StepResult[]> {
    const browser = needsChromium() ? runStep(chromium(), logs) : undefined
    if (!steps.unit || !isWhole) {
      await browser
      return Promise.all(run(steps.unit))
    }
    // The first of the long tests need the console; without them it is built before anybody asks for it.
    const [built, unit] = isShort
      ? await Promise.all([runStep(buildConsole(), logs), runStep(steps.unit, logs)])
      : await runAfter(buildConsole(), steps.unit, browser)
    const units = await repeated(unit, [...cases], (files) =>
      vitest(['--maxWorkers=1', ...files], 'repeated', repeatedJson),
    )
    return [built, ...units, ...(built.ok ? await runSandboxSettings() : [])]
  }

  async function runRest(): Promise<StepResult[]> {
    const checks = await Promise.all([steps.types, steps.lint].flatMap(run))
    return steps.contracts ? [...checks, ...(await runAfter(compile(), steps.contracts))] : checks
  }
}

/** Runs a step when the one that it needs has succeeded. */
async function runAfter(
  first: Step,
  step: Step,
  besides?: Promise<unknown>,
): Promise<[StepResult, StepResult]> {
  const [needed] = await Promise.all([runStep(first, logs), besides])
  const result = needed.ok ? await runStep(step, logs) : skipped(step.name, `not run: see ${first.name}`)
  return [needed, result]
}

/** Of a run for rules only the tests that name one count. */
function take(read: TestCase[]): string {
  const taken = wanted.rules.length
    ? read.filter(({ rules }) => wanted.rules.some((id) => nameRule(rules, id)))
    : read
  cases.push(...taken)
  return told(taken)
}

function told(taken: TestCase[]): string {
  const [passed, failed, left] = (['passed', 'failed', 'skipped'] as const).map((outcome) =>
    count(taken, outcome),
  )
  if (!passed && !failed && wanted.rules.length === 0) throw new Error('no test was run')
  return `${passed} passed, ${failed} failed${left ? `, ${left} skipped` : ''}`
}

function soliditySources(): Source[] {
  return readSources(contracts, 'test/**/*.sol')
}

function vitestSources(): Source[] {
  return readSources(root, '{bench,contracts,deploy,integrations,packages,sandbox,scripts,sim}/**/*.test.ts')
}

function readSources(cwd: string, pattern: string): Source[] {
  const exclude = (path: string) => /(^|\/)(node_modules|dist)$/.test(path)
  return globSync(pattern, { cwd, exclude })
    .sort()
    .map((file) => ({ file, text: readFileSync(join(cwd, file), 'utf8') }))
}

function finish(results: StepResult[]) {
  const failed = results.filter(({ ok }) => !ok)
  for (const { name, output } of failed) if (output) console.log(`\n── ${name} ──\n${output.trimEnd()}`)
  const unknown = unknownRules(ids, cases)
  // Without the Solidity tests too many rules would seem to be theirs.
  const unheld = wanted.all && steps.contracts ? heldByLongTestsAlone(ids, cases) : []
  const contradicted = contradictions(
    decisions,
    cases.map(({ file, title, rules: names }) => ({ where: `${file}: ${title}`, names })),
  )
  for (const line of [...unknown, ...contradicted]) console.log(`\n${line}`)
  if (isWhole) {
    writeReport()
    printSlowest()
  }

  if (results.length) console.log(`\n${results.map(describe).join('\n')}`)
  for (const { file, title } of cases.filter(({ outcome }) => outcome === 'failed')) {
    console.log(`  ✗ ${file} › ${title}`)
  }
  if (unsteady.length) console.log('unsteady (failed, then passed when their files ran alone): mend them')
  for (const { file, title } of unsteady) console.log(`  ~ ${file} › ${title}`)
  const reasons = reasonsToFail({
    steps: failed.map(({ name }) => name),
    ...{ unsteady, unheld, unknown, contradicted },
  })
  for (const reason of reasons) console.log(reason)
  if (steps.contracts || steps.unit) {
    console.log(`\n${count(cases, 'passed')} passed, ${count(cases, 'failed')} failed`)
  }
  if (isShort && steps.unit) {
    const long = vitestSources().filter(isLong)
    console.log(`\n${long.length} files of long tests were left out: npm test -- --all runs them, too`)
  }
  if (needsChromium()) console.log(`\n${NO_CHROMIUM}`)
  const untested = tellRules()
  process.exitCode = reasons.length || untested ? 1 : 0
}

/** Says how many tests of each wanted rule ran; returns the number of rules without any. */
function tellRules(): number {
  const rows = wanted.rules.map((id) => {
    const ran = cases.filter((one) => one.outcome !== 'skipped' && nameRule(one.rules, id))
    return { id, ran: ran.length, failed: count(ran, 'failed') }
  })
  for (const { id, ran, failed } of rows) {
    console.log(
      ran
        ? `${id}: tests that ran: ${ran}, failed: ${failed}`
        : `${id}: no test names it. Name it in the title of the test that holds it: "… [${id}]", in Solidity in the NatSpec above it.`,
    )
  }
  return rows.filter(({ ran }) => ran === 0).length
}

function printSlowest() {
  if (!existsSync(vitestJson)) return
  const slowest = slowestFiles(readFileSync(vitestJson, 'utf8'), root, SLOWEST)
  console.log(`\nthe ${slowest.length} slowest test files:`)
  for (const { file, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(8)} s  ${file}`)
}

function readReport(): string {
  return existsSync(reportPath) ? readFileSync(reportPath, 'utf8') : ''
}

/** Only when both kinds of tests have run to the end: a part would show rules as lost that are not. */
function writeReport() {
  const kinds = [/\.sol$/, /\.test\.ts$/]
  if (!kinds.every((kind) => cases.some(({ file }) => kind.test(file)))) return
  const report = conformanceReport(rules, decisions, cases)
  if (report === readReport()) return
  writeFileSync(reportPath, report)
  console.log('\nconformance/report.md has changed: commit it with the tests.')
}
