import { describe, expect, it } from 'vitest'
import { titlePattern, vitestFilesOf } from './rule-tests.ts'
import { solidityTestsOf } from './solidity-rules.ts'

describe('the vitest files of a rule', () => {
  const sources = [
    { file: 'a.test.ts', text: "it('pays [ONE-01]')" },
    { file: 'loop.test.ts', text: "for (const rule of ['ONE-01', 'ONE-02']) it('pays [' + rule + ']')" },
    { file: 'made.test.ts', text: "it('pays [ONE-0' + digit + ']')" },
    { file: 'longer.test.ts', text: "it('pays [ONE-011, BONE-01]')" },
  ]

  it('are those whose text holds its id, in a title or anywhere else', () => {
    expect(vitestFilesOf(['ONE-01'], sources, '')).toEqual(['a.test.ts', 'loop.test.ts'])
    expect(vitestFilesOf(['ONE-02', 'ONE-011'], sources, '')).toEqual(['loop.test.ts', 'longer.test.ts'])
  })

  it('are also those that the last report names for it', () => {
    const report = '| ONE-01 | pass | `made.test.ts` pays |\n| ONE-02 | pass | `a.test.ts` pays |'
    expect(vitestFilesOf(['ONE-01'], sources, report)).toEqual(['a.test.ts', 'loop.test.ts', 'made.test.ts'])
  })
})

describe('the pattern of a rule', () => {
  const matches = (title: string) => new RegExp(titlePattern(['ONE-01', 'TWO-01'])).test(title)

  it('matches titles that name one of the rules in brackets, of the test or of its group', () => {
    expect(matches('pays [ONE-01]')).toBe(true)
    expect(matches('the shop [TWO-02, TWO-01] pays [TWO-03]')).toBe(true)
    expect(matches('waits [TWO-02, TWO-01 otherwise]')).toBe(true)
  })

  it('matches no longer id, and none outside brackets', () => {
    expect(matches('pays [ONE-011]')).toBe(false)
    expect(matches('pays [BONE-01]')).toBe(false)
    expect(matches('pays ONE-01')).toBe(false)
  })
})

describe('the Solidity tests of a rule', () => {
  const sources = [
    {
      file: 'test/base/Base.sol',
      text: 'abstract contract Base {\n  /// @dev [TWO-01]\n  function test_inherited() public {}\n}\n',
    },
    {
      file: 'test/a.t.sol',
      text: 'contract ATest is Base {\n  /// @dev [ONE-01, TWO-01]\n  function test_pays() public {}\n\n  function test_plain() public {}\n}\n',
    },
    {
      file: 'test/b.t.sol',
      text: 'contract BTest {\n  /// @dev [ONE-02 otherwise]\n  function test_b() public {}\n}\n',
    },
  ]

  it('are found in the suites, those that a suite inherits too', () => {
    expect(solidityTestsOf(['TWO-01'], sources)).toEqual({
      files: ['test/a.t.sol'],
      tests: ['test_inherited', 'test_pays'],
    })
    expect(solidityTestsOf(['ONE-02', 'ONE-01'], sources)).toEqual({
      files: ['test/a.t.sol', 'test/b.t.sol'],
      tests: ['test_b', 'test_pays'],
    })
  })

  it('are none where no test names the rule', () => {
    expect(solidityTestsOf(['ONE-03'], sources)).toEqual({ files: [], tests: [] })
  })
})
