import { constants } from 'node:os'
import { parseArgs } from 'node:util'
import { DatabaseError } from '@referrer/database'
import { ConfigError, describeVariables, readConfig } from './config.ts'
import { type Overrides, startService } from './service.ts'

const USAGE = `The Referrer service: records, workers and HTTP.

Usage: npm run service [-- --help]

Environment:
${describeVariables()}
`

/** Runs the service until a signal ends it. A second signal does not wait for running work. */
export async function main(args: string[], overrides: Overrides = {}): Promise<void> {
  const { values } = parseArgs({ args, options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) {
    process.stdout.write(USAGE)
    return
  }
  const starting = startService(readConfig(process.env), overrides)

  let isStopping = false
  const onSignal = async (signal: 'SIGTERM' | 'SIGINT') => {
    if (isStopping) process.exit(128 + constants.signals[signal])
    isStopping = true
    const service = await starting
    const { stuck } = await service.stop()
    process.exit(stuck.length === 0 ? 0 : 1)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)

  const { url, context } = await starting
  process.stdout.write(`referrer service ready on ${url}, chains ${[...context.chains.keys()].join(', ')}\n`)
}

/** Says what to do when that is known, and everything when it is not. */
export function failStart(error: unknown): never {
  const isExplained =
    error instanceof ConfigError ||
    error instanceof DatabaseError ||
    (error instanceof Error && 'code' in error && typeof error.code === 'string')
  process.stderr.write(
    `${isExplained ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
  )
  process.exit(1)
}

if (import.meta.main) await main(process.argv.slice(2)).catch(failStart)
