/** Another replica may do this work by now: whoever gets this error stops and writes nothing. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError'
}

const LONGEST = 2_000

/** The message of an error and of its causes, cut to a length that fits a row. */
export function errorText(error: unknown): string {
  const lines: string[] = []
  for (let cause = error; cause !== undefined && lines.length < 5; ) {
    lines.push(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause))
    cause = cause instanceof Error ? cause.cause : undefined
  }
  // Postgres holds neither NUL nor half a surrogate pair.
  const text = lines.join('; caused by ').replaceAll('\0', '')
  return (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text).toWellFormed()
}
