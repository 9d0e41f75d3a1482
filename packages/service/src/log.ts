import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from './config.ts'

/** Headers that prove who somebody is. */
const SECRET_HEADERS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-agent-signature',
  'payment-signature',
]

/** Logs as lines of JSON. Headers that are logged somewhere below are written without their secrets. */
export function createLog(level: Config['logLevel'], destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    redact: {
      paths: ['headers', '*.headers'].flatMap((bag) => SECRET_HEADERS.map((header) => `${bag}["${header}"]`)),
      censor: '[secret]',
    },
  }
  return destination ? pino(options, destination) : pino(options)
}
