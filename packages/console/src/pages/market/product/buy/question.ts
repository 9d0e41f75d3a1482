// What a product is asked, as a person types it: one name=value on a line.
const MOST = 20
const MOST_NAME = 64
const MOST_VALUE = 1_000

/** The lines that give a query. */
export const writeQuestion = (query: Record<string, string>): string =>
  Object.entries(query)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')

export type Question = { query: Record<string, string> } | { error: string }

export function readQuestion(text: string): Question {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length > MOST) return { error: `At most ${MOST} lines.` }
  const entries: [string, string][] = []
  for (const line of lines) {
    const at = line.indexOf('=')
    const name = line.slice(0, at).trim()
    const value = line.slice(at + 1).trim()
    if (at < 0 || name === '') return { error: `Write “${line.trim().slice(0, 40)}” as name=value.` }
    if (name.length > MOST_NAME || value.length > MOST_VALUE)
      return { error: `“${name.slice(0, 40)}” is too long.` }
    entries.push([name, value])
  }
  return { query: Object.fromEntries(entries) }
}
