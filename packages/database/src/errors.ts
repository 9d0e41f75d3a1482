/** Its message is one line that says what to do next; it never holds a password. */
export class DatabaseError extends Error {
  override name = 'DatabaseError'
}

export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? ''
}
