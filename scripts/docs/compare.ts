// Whether a program printed what a document says it prints.
import { stripVTControlCharacters } from 'node:util'

/** What differs from run to run, by what stands for it in a comparison. */
const VARIABLE: [RegExp, string][] = [
  [/\/r\/[\w-]{20,}/g, '/r/‹token›'],
  [/0x[0-9a-fA-F]{6,}/g, '‹hex›'],
  [/\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z)?/g, '‹time›'],
  [/\b\d\d:\d\d:\d\d\b/g, '‹time›'],
  [/\b\d+(?:\.\d+)? (?:s|ms|seconds)\b/g, '‹duration›'],
]

const normal = (line: string) =>
  VARIABLE.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), stripVTControlCharacters(line))
    // A cut value ends in an ellipsis: `0x26fb…` is any hash, `/r/eyJ2…` any token.
    .replaceAll(/\/r\/[\w-]+…/g, '/r/‹token›')
    .replaceAll(/0x[0-9a-fA-F]+…/g, '‹hex›')
    .replaceAll(/‹(hex)›…/g, '‹$1›')
    .replaceAll(/‹token›…/g, '‹token›')
    .replaceAll(/\s+/g, ' ')
    .trimEnd()

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

function matches(expected: string, printed: string): boolean {
  const pattern = normal(expected)
    .split(/\s*…\s*/)
    .map(escaped)
    .join('.*')
  return new RegExp(`^${pattern}$`).test(normal(printed))
}

const isGap = (line: string) => line.trim() === '…'

/**
 * The first expected line that was not printed; undefined when all were. `…` stands for any text, and alone in a line for any lines.
 * What is printed before the first expected line and after the last is not looked at when `isExcerpt`.
 */
export function missingLine(
  expected: readonly string[],
  printed: readonly string[],
  { isExcerpt = false } = {},
): string | undefined {
  const wanted = trimmed(expected)
  const given = trimmed(printed)
  let at = 0
  let maySkip = isExcerpt
  for (const line of wanted) {
    if (isGap(line)) {
      maySkip = true
      continue
    }
    const next = given.findIndex((one, index) => index >= at && matches(line, one))
    if (next === -1 || (!maySkip && next !== at)) return line
    at = next + 1
    maySkip = false
  }
  const isComplete = isExcerpt || maySkip || at === given.length
  return isComplete ? undefined : `(nothing more, but it printed: ${given[at]})`
}

function trimmed(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== '')
  const last = lines.findLastIndex((line) => line.trim() !== '')
  return first === -1 ? [] : lines.slice(first, last + 1)
}
