// What `npm test` is asked for.
import { parseArgs } from 'node:util'

export const HELP = `npm test                              types, lint, contracts, and every test but the long ones; writes conformance/report.md
npm test -- --all                     the long ones, too: *.long.test.ts
npm test -- <path part>…              the vitest files whose path contains one of these, long or not
npm test -- --rule <id>               the tests, Solidity ones too, that name a rule of conformance/rules.tsv: --rule REV-29
                                      (several: --rule REV-29,REV-30)
npm test -- --only <steps>            some of: types, lint, contracts, unit (comma separated)
npm test -- --only contracts <regexp> the Solidity test functions whose name matches

Each step's full output is kept in node_modules/.cache/referrer-test/<step>.log.`

const STEPS = ['types', 'lint', 'contracts', 'unit']

export interface Wanted {
  help: boolean
  /** The long tests, too. */
  all: boolean
  steps: ReadonlySet<string>
  filters: string[]
  /** Only the tests that name one of these; empty: all. */
  rules: string[]
}

/** Throws an error whose message says what to do instead. */
export function readArguments(args: string[], known: string[]): Wanted {
  const { values, positionals: filters } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      rule: { type: 'string', multiple: true },
      all: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const steps = values.only?.split(',') ?? (filters.length ? ['unit'] : STEPS)
  const wrong = steps.find((name) => !STEPS.includes(name))
  if (wrong !== undefined) throw new Error(`there is no step "${wrong}"`)
  if (filters.length && steps.length > 1) throw new Error('a filter goes with one step')
  const rules = [...new Set((values.rule ?? []).flatMap((text) => text.split(',').map((id) => id.trim())))]
  if (rules.length && (values.only !== undefined || filters.length))
    throw new Error('--rule finds its tests by itself: leave out --only and the filters')
  if (values.all && (rules.length || filters.length))
    throw new Error('--rule and filters find long tests without --all: leave it out')
  const unknown = rules.filter((id) => !known.includes(id))
  if (unknown.length)
    throw new Error(
      `there is no rule ${unknown.map((id) => `"${id}"`).join(', ')}: look up its id in conformance/rules.tsv`,
    )
  return { help: values.help, all: values.all, steps: new Set(steps), filters, rules }
}
