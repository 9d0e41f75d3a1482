import { describe, expect, it } from 'vitest'
import { declarations, readSources } from '../natspec/declarations.ts'
import { readErrorTable, renderErrorTable } from '../natspec/error-table.ts'
import { missingTexts } from '../natspec/missing.ts'

const sources = readSources()
const all = declarations(sources)

describe('the NatSpec of the contracts', () => {
  it('says what every function, event, error, parameter and return value is, and what to do after an error', () => {
    expect(all.filter(({ kind }) => kind === 'error').length).toBeGreaterThan(50)
    expect(missingTexts(all)).toEqual([])
  })

  it('is missed where a parameter, return value, event or error has none', () => {
    const source = `contract C {
      /// @param a First
      error E(uint256 a, uint256 b);
      event V(uint256 a);
      /// @notice Does it.
      /// @param a First
      /// @return x
      function f(uint256 a, uint256 b) external returns (uint256 x, uint256) {}
      /// @inheritdoc D
      function g() external {}
      uint256 public v;
      uint256 private hidden;
      function inner(uint256 a) internal {}
    }`
    expect(missingTexts(declarations({ 'C.sol': source }))).toEqual([
      'C.sol: error C.E has no @param b',
      'C.sol: error C.E has no @dev that says what the caller does next',
      'C.sol: error C.E has no @notice',
      'C.sol: event C.V has no @param a',
      'C.sol: event C.V has no @notice',
      'C.sol: function C.f has no @param b',
      'C.sol: function C.f has no @return x',
      'C.sol: function C.f has no @return 1',
      'C.sol: function C.g has no text in D',
      'C.sol: variable C.v has no @notice',
    ])
  })

  it('is the table of errors in docs/contracts.md: `npm run errors -w contracts` writes it', () => {
    expect(readErrorTable()).toBe(renderErrorTable(all))
  })
})
