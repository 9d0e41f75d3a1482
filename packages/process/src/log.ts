import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { currentRequestId } from './tracing/request-context.ts'

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Headers that carry credentials; their values are not logged. */
const SECRET_HEADERS = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-agent-signature',
  'payment-signature',
])

/** Lines are buffered for at most 100 ms, because one write for each line would take longer than most requests. The exit flushes them. */
const BUFFERED = { sync: false, minLength: 4_096, periodicFlush: 100 }

type Fields = Record<string, unknown>

/** A logger that writes lines of JSON. Credentials are removed from `headers` on the first two levels of a line. */
export function createLog(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    mixin: requestFields,
    // Redaction is done here because pino's own takes ten times as long as writing the line.
    formatters: { log: withoutSecrets },
    serializers: { err: (error: Error) => cleaned(stdSerializers.err(error) as unknown as Fields) },
  }
  return pino(options, destination ?? pino.destination(BUFFERED))
}

/** Every line that is written for a request has its id. */
function requestFields(): Fields {
  const reqId = currentRequestId()
  return reqId === undefined ? {} : { reqId }
}

function withoutSecrets(line: Fields): Fields {
  if (!mayHoldHeaders(line)) return line
  let clean = cleaned(line)
  for (const [key, value] of Object.entries(line)) {
    if (isPlain(value) && isPlain(value.headers)) clean = { ...clean, [key]: cleaned(value) }
  }
  return clean
}

/** A quick check that spares nearly all lines the redaction: most have no nested objects. */
function mayHoldHeaders(line: Fields): boolean {
  for (const key in line) if (typeof line[key] === 'object') return true
  return false
}

function cleaned(fields: Fields): Fields {
  if (!isPlain(fields.headers)) return fields
  const shown = Object.entries(fields.headers).map(([name, value]) => [
    name,
    SECRET_HEADERS.has(name.toLowerCase()) ? '[secret]' : value,
  ])
  return { ...fields, headers: Object.fromEntries(shown) }
}

function isPlain(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
