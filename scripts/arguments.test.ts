import { describe, expect, it } from 'vitest'
import { readArguments } from './arguments.ts'

const read = (...args: string[]) => readArguments(args, ['ONE-01', 'ONE-02', 'TWO-01'])

describe('the arguments of npm test', () => {
  it('run every step when there are none', () => {
    expect(read()).toEqual({
      help: false,
      all: false,
      steps: new Set(['types', 'lint', 'contracts', 'unit']),
      filters: [],
      rules: [],
    })
  })

  it('leave out the long tests of a whole run unless --all is there', () => {
    expect(read('--all')).toEqual({ ...read(), all: true })
    expect(() => read('--all', 'money')).toThrow('leave it out')
    expect(() => read('--all', '--rule', 'ONE-01')).toThrow('leave it out')
  })

  it('run the unit tests alone for parts of paths', () => {
    expect(read('money', 'review')).toMatchObject({ steps: new Set(['unit']), filters: ['money', 'review'] })
  })

  it('name rules separated by commas, repeated, or both, and each counts once', () => {
    expect(read('--rule', 'ONE-01, ONE-02', '--rule', 'TWO-01,ONE-01').rules).toEqual([
      'ONE-01',
      'ONE-02',
      'TWO-01',
    ])
  })

  it('are refused with the next step when a rule is unknown', () => {
    expect(() => read('--rule', 'ONE-01,ONE-99', '--rule', 'one-02')).toThrow(
      'there is no rule "ONE-99", "one-02": look up its id in conformance/rules.tsv',
    )
    expect(() => read('--rule', '')).toThrow('there is no rule ""')
  })

  it('are refused when a rule comes with a choice of steps or files', () => {
    const refusal = '--rule finds its tests by itself'
    expect(() => read('--rule', 'ONE-01', '--only', 'unit')).toThrow(refusal)
    expect(() => read('--rule', 'ONE-01', 'money')).toThrow(refusal)
  })

  it('are refused for a step that there is not, and for a filter of several steps', () => {
    expect(() => read('--only', 'types,units')).toThrow('there is no step "units"')
    expect(() => read('--only', 'unit,contracts', 'money')).toThrow('a filter goes with one step')
  })
})
