import { parseArgs } from 'node:util'
import { describeVariables, failStart, runUntilSignal } from '@referrer/process'
import { readConfig, variables } from './config.ts'
import { type Overrides, startFacilitator } from './facilitator.ts'

const USAGE = `The Referrer facilitator: verifies payments through ref links and settles them on-chain.

Usage: npm run facilitator [-- --help]

Environment:
${describeVariables(variables)}
`

/** Runs the facilitator until a signal ends it. */
export async function main(args: string[], overrides: Overrides = {}): Promise<void> {
  const { values } = parseArgs({ args, options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) {
    process.stdout.write(USAGE)
    return
  }
  const { url, context } = await runUntilSignal(() => startFacilitator(readConfig(process.env), overrides))
  process.stdout.write(
    `referrer facilitator ready on ${url}, chains ${[...context.chains.keys()].join(', ')}\n`,
  )
}

if (import.meta.main) await main(process.argv.slice(2)).catch(failStart)
