import { parseArgs } from 'node:util'
import { builtDirectory, openConsole } from '@referrer/console'
import { describeVariables, failStart, runUntilSignal } from '@referrer/process'
import { reindex } from './commands/reindex.ts'
import { readConfig, variables } from './config.ts'
import { type Overrides, startService } from './service.ts'

const USAGE = `The Referrer service: records, workers and HTTP.

Usage: npm run service [-- <option>]

  --reindex <chain id>  forget what was read from a chain, so that it is read anew, and end; the service's own records stay
  --help

Environment:
${describeVariables(variables)}
`

/** Runs the service until a signal ends it, or does what an option asks for. */
export async function main(args: string[], overrides: Overrides = {}): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', short: 'h' },
      reindex: { type: 'string' },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return
  }
  const config = readConfig(process.env)
  if (values.reindex !== undefined) {
    process.stdout.write(`${await reindex(config, values.reindex)}\n`)
    return
  }
  const console = overrides.console ?? (await openConsole(builtDirectory()))
  const { url, context } = await runUntilSignal(() => startService(config, { ...overrides, console }))
  process.stdout.write(`referrer service ready on ${url}, chains ${[...context.chains.keys()].join(', ')}\n`)
  if (!console)
    process.stdout.write('there are no pages at /: build them with `npm run build -w packages/console`\n')
}

if (import.meta.main) await main(process.argv.slice(2)).catch(failStart)
