/** One thing that a buyer needs. `detail` says what was found and, where it is wrong, what to do. */
export interface Check {
  name: string
  ok: boolean
  detail: string
}

export interface Report {
  pass: boolean
  checks: Check[]
}

export const check = (name: string, ok: boolean, found: string, fix: string): Check => ({
  name,
  ok,
  detail: ok ? found : fix,
})

export const reportOf = (checks: Check[]): Report => ({ pass: checks.every(({ ok }) => ok), checks })

export function show(url: string, { checks }: Report): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines = checks.map(({ name, ok, detail }) => `${ok ? '✓' : '✗'} ${name.padEnd(width)}  ${detail}`)
  const passed = checks.filter(({ ok }) => ok).length
  return [url, '', ...lines, '', `${passed} of ${checks.length} checks passed`].join('\n')
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  // fetch says only that it failed; why stands in the cause.
  return error.message === 'fetch failed' && cause instanceof Error
    ? cause.message || String(cause)
    : firstLine(error.message)
}

const firstLine = (text: string) => text.split('\n', 1)[0] ?? text
