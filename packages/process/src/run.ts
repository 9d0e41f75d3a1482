import { constants } from 'node:os'
import { DatabaseError } from '@referrer/database'
import type { Logger } from 'pino'
import { ConfigError } from './environment.ts'

/** A running program. */
export interface Program {
  context: { log: Logger }
  /** Waits for running work to end, and returns the names of the parts that did not end in time. */
  stop(): Promise<{ stuck: readonly string[] }>
}

/**
 * Starts a program and keeps it running until SIGTERM or SIGINT. Then it stops the program and exits, with status 1 when a part was stuck.
 * A second signal exits at once. The handlers are installed before the start, so that a signal cannot interrupt it halfway; a start that
 * only waits ends early when its own signal aborts.
 */
export async function runUntilSignal<P extends Program>(
  start: (stopped: AbortSignal) => Promise<P>,
): Promise<P> {
  const stopped = new AbortController()
  const starting = Promise.resolve(stopped.signal).then(start)
  let isStopping = false
  const onSignal = async (signal: 'SIGTERM' | 'SIGINT') => {
    if (isStopping) process.exit(128 + constants.signals[signal])
    isStopping = true
    stopped.abort()
    const program = await starting.catch((error) => {
      // The start ended because it was told to; any other failure is reported by the caller.
      if (error === stopped.signal.reason || error?.cause === stopped.signal.reason) process.exit(0)
      throw error
    })
    program.context.log.info({ signal }, 'stopping')
    const { stuck } = await program.stop()
    process.exit(stuck.length === 0 ? 0 : 1)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return await starting
}

/** Prints why the start failed and exits: a short message for known errors, the stack for all others. */
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
