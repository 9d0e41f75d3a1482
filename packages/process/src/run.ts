import { constants } from 'node:os'
import { DatabaseError } from '@referrer/database'
import type { Logger } from 'pino'
import { ConfigError } from './environment.ts'

/** Something that runs until it is told to stop. */
export interface Program {
  context: { log: Logger }
  /** Lets running work end, and names what did not end although it was told to. */
  stop(): Promise<{ stuck: readonly string[] }>
}

/**
 * Starts a program and keeps it running until SIGTERM or SIGINT: it stops and exits, with 1 when something was stuck. A second signal does
 * not wait. Signals are listened to before the start begins, so none cuts it off in the middle.
 */
export async function runUntilSignal<P extends Program>(start: () => Promise<P>): Promise<P> {
  const starting = Promise.resolve().then(start)
  let isStopping = false
  const onSignal = async (signal: 'SIGTERM' | 'SIGINT') => {
    if (isStopping) process.exit(128 + constants.signals[signal])
    isStopping = true
    const program = await starting
    program.context.log.info({ signal }, 'stopping')
    const { stuck } = await program.stop()
    process.exit(stuck.length === 0 ? 0 : 1)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return await starting
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
