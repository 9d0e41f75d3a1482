import { expect, it } from 'vitest'
import {
  failuresIn,
  filesToRepeat,
  readSolidity,
  readVitest,
  slowestFiles,
  type TestCase,
} from './results.ts'
import { solidityRules } from './solidity-rules.ts'

const source = `
import {Test} from "forge-std/Test.sol";

abstract contract Base is Test {
  /// @dev [TWO-01]
  function test_inherited() public pure {}
}

contract ATest is
  Base
{
  function setUp() public {}

  /// [TWO-02, TWO-03] pays
  /// once
  function test_pays() public {}

  function test_plain() public {}

  /**
   * @dev [TWO-04]
   */
  function testFuzz_holds(uint256 v) public {}
}
`
const rulesOf = solidityRules([{ file: 'test/A.t.sol', text: source }])

const output = (cases: string, totals: string) => `
Running Solidity tests

  test/A.t.sol:ATest
${cases}

${totals}

  1) ATest#test_plain()
    Error: assertion failed: 3 != 4
    1) test_not_a_case()
`

it('takes the ids from the NatSpec directly above a Solidity test', () => {
  expect(rulesOf('test/A.t.sol', 'ATest', 'test_pays')).toEqual(['TWO-02', 'TWO-03'])
  expect(rulesOf('test/A.t.sol', 'ATest', 'testFuzz_holds')).toEqual(['TWO-04'])
  expect(rulesOf('test/A.t.sol', 'ATest', 'test_plain')).toEqual([])
})

it('finds the ids of an inherited Solidity test in its base', () => {
  expect(rulesOf('test/A.t.sol', 'ATest', 'test_inherited')).toEqual(['TWO-01'])
})

it('reads passed, failed, skipped and fuzzed Solidity tests', () => {
  const text = output(
    '    ✔ test_pays()\n    - test_skipped()\n    1) test_plain()\n    ✔ testFuzz_holds(uint256) (runs: 256)',
    '  2 passing\n  1 failing\n  1 skipped',
  )
  const file = 'contracts/test/A.t.sol'
  expect(readSolidity(text, 'contracts', rulesOf)).toEqual([
    { file, title: 'ATest.test_pays', outcome: 'passed', rules: ['TWO-02', 'TWO-03'] },
    { file, title: 'ATest.test_skipped', outcome: 'skipped', rules: [] },
    { file, title: 'ATest.test_plain', outcome: 'failed', rules: [] },
    { file, title: 'ATest.testFuzz_holds', outcome: 'passed', rules: ['TWO-04'] },
  ])
})

it('lets a failed setUp fail every rule of its suite', () => {
  const [setUp] = readSolidity(output('    1) setUp()', '  0 passing\n  1 failing'), 'contracts', rulesOf)
  expect(setUp?.outcome).toBe('failed')
  expect(setUp?.rules.toSorted()).toEqual(['TWO-01', 'TWO-02', 'TWO-03', 'TWO-04'])
})

it('refuses Solidity output whose totals it cannot account for', () => {
  expect(() => readSolidity(output('    ok test_pays()', '  1 passing'), 'contracts', rulesOf)).toThrow(
    /1 passing/,
  )
})

it('reads vitest cases with the titles of their groups', () => {
  const json = JSON.stringify({
    testResults: [
      {
        name: '/r/a.test.ts',
        status: 'passed',
        assertionResults: [
          { ancestorTitles: ['money'], title: 'adds [ONE-01]', status: 'passed' },
          { ancestorTitles: [], title: 'later', status: 'todo' },
        ],
      },
    ],
  })
  expect(readVitest(json, '/r')).toEqual([
    { file: 'a.test.ts', title: 'money › adds [ONE-01]', outcome: 'passed', rules: ['ONE-01'] },
    { file: 'a.test.ts', title: 'later', outcome: 'skipped', rules: [] },
  ])
})

it('counts a vitest file that did not load as a failure', () => {
  const json = JSON.stringify({
    testResults: [{ name: '/r/a.test.ts', status: 'failed', assertionResults: [] }],
  })
  expect(readVitest(json, '/r')).toEqual([
    { file: 'a.test.ts', title: 'the file runs', outcome: 'failed', rules: [] },
  ])
})

it('lists the slowest vitest files first, as many as asked for', () => {
  const file = (name: string, seconds: number) => ({
    name: `/r/${name}`,
    status: 'passed',
    startTime: 1_000,
    endTime: 1_000 + seconds * 1_000,
    assertionResults: [],
  })
  const json = JSON.stringify({
    testResults: [file('a.test.ts', 2), file('b.test.ts', 9.5), file('c.test.ts', 4)],
  })
  expect(slowestFiles(json, '/r', 2)).toEqual([
    { file: 'b.test.ts', seconds: 9.5 },
    { file: 'c.test.ts', seconds: 4 },
  ])
})

const failedIn = (...files: string[]): TestCase[] => [
  { file: 'good.test.ts', title: 'holds', outcome: 'passed', rules: [] },
  ...files.map((file): TestCase => ({ file, title: 'breaks', outcome: 'failed', rules: [] })),
]
const failed = { ok: false, output: 'Tests  2 failed | 1 passed' }

it('shows what vitest says of failures, without the list of tests', () => {
  const said = '⎯⎯⎯ Failed Tests 1 ⎯⎯⎯\n\n FAIL  a.test.ts > adds\nAssertionError'
  expect(failuresIn(` ✓ b.test.ts\n ❯ a.test.ts\n\n${said}\n\n`)).toBe(said)
})

it('repeats the vitest files of a few failures, each once', () => {
  expect(filesToRepeat(failed, failedIn('a.test.ts', 'b.test.ts', 'a.test.ts'))).toEqual([
    'a.test.ts',
    'b.test.ts',
  ])
})

it('repeats nothing after a run without failures, with many, or with an error outside of tests', () => {
  const many = failedIn(...[1, 2, 3, 4, 5, 6].map((at) => `${at}.test.ts`))
  expect(filesToRepeat({ ok: true, output: '' }, failedIn())).toEqual([])
  expect(filesToRepeat(failed, many)).toEqual([])
  expect(filesToRepeat({ ok: false, output: '⎯⎯ Unhandled Errors ⎯⎯' }, failedIn('a.test.ts'))).toEqual([])
  expect(filesToRepeat({ ok: false, output: '⎯⎯ Unhandled Rejection ⎯⎯' }, failedIn('a.test.ts'))).toEqual([])
})

it('does not repeat what failed with random values', () => {
  const result = (title: string, message: string) =>
    JSON.stringify({
      testResults: [
        {
          name: '/r/a.test.ts',
          status: 'failed',
          assertionResults: [{ ancestorTitles: [], title, status: 'failed', failureMessages: [message] }],
        },
      ],
    })
  const repeated = (title: string, message: string) =>
    filesToRepeat(failed, readVitest(result(title, message), '/r'))
  expect(repeated('adds', 'Property failed after 3 tests\n{ seed: 12, path: "2:1" }')).toEqual([])
  expect(repeated('round 1 (SEED=77)', 'expected 1 to be 2')).toEqual([])
  expect(repeated('adds', 'expected 1 to be 2')).toEqual(['a.test.ts'])
})

it('does not repeat Solidity tests, which have the same seed every time', () => {
  expect(filesToRepeat(failed, failedIn('contracts/test/A.t.sol'))).toEqual([])
})
