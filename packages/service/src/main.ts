import { constants } from 'node:os'
import { parseArgs } from 'node:util'
import { DatabaseError } from '@referrer/database'
import { ConfigError, describeVariables, readConfig } from './config.ts'
import { type Overrides, startService } from './service.ts'
import { reindex, reviveJob } from './upkeep.ts'

const USAGE = `The Referrer service: records, workers and HTTP.

Usage: npm run service [-- <option>]

  --reindex <chain id>  forget what was read from a chain, so that it is read anew, and end; the service's own records stay
  --revive <job id>     put a job of jobs.dead back into its queue, and end
  --help

Environment:
${describeVariables()}
`

/** Runs the service until a signal ends it. A second signal does not wait for running work. */
export async function main(args: string[], overrides: Overrides = {}): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', short: 'h' },
      reindex: { type: 'string' },
      revive: { type: 'string' },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return
  }
  const config = readConfig(process.env)
  const done =
    values.reindex !== undefined
      ? await reindex(config, values.reindex)
      : values.revive !== undefined && (await reviveJob(config, values.revive))
  if (done) {
    process.stdout.write(`${done}\n`)
    return
  }
  const starting = startService(config, overrides)

  let isStopping = false
  const onSignal = async (signal: 'SIGTERM' | 'SIGINT') => {
    if (isStopping) process.exit(128 + constants.signals[signal])
    isStopping = true
    const service = await starting
    service.context.log.info({ signal }, 'stopping')
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
  process.stderr.write(`${explain(error)}\n`)
  process.exit(1)
}

interface ListenError extends NodeJS.ErrnoException {
  port: number
}

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof DatabaseError) return error.message
  const { code = '', message = String(error), stack = message, port } = error as Partial<ListenError>
  if (code === 'EADDRINUSE') return `port ${port} is in use: stop what listens there, or set PORT to another`
  return code.startsWith('ERR_PARSE_ARGS') ? message : stack
}

if (import.meta.main) await main(process.argv.slice(2)).catch(failStart)
