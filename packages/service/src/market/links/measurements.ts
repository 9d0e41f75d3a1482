// The measurements in a review, formatted for people: the fields that the category's schema names, with the digits as they were written.
import { type Fields, fieldsOf } from '../../kit/loose-json.ts'
import { measure, NumberText } from '../reviews/invariant.ts'

export interface Measurement {
  name: string
  value: string
}

/** Limit for the shown measurements, because an operator's schema may name many. */
const MOST = 24
const MOST_CHARACTERS = 60
const UNITS: Record<string, string> = { ms: 'ms', usdc: 'USDC', bytes: 'bytes', seconds: 's', percent: '%' }
/** Fields that the page shows elsewhere. */
const ELSEWHERE = new Set(['rating', 'description'])

/** `text` is the content of an accepted review. It may be older than the schema; fields that do not match are left out. */
export const measurementsIn = (text: string, schema: Fields): Measurement[] =>
  measurementsOf(fieldsOf(measure(text)), schema)
    .filter(({ key }) => !ELSEWHERE.has(key))
    .slice(0, MOST)
    .map(({ name, value }) => ({ name, value }))

/** A nested measurement gets the name and unit of its parent: `latency_ms.p50` is shown as "Latency p50" in ms. */
function measurementsOf(value: Fields, schema: Fields): (Measurement & { key: string })[] {
  return Object.entries(fieldsOf(schema.properties)).flatMap(([key, given]) => {
    if (!Object.hasOwn(value, key)) return []
    const part = fieldsOf(given)
    const { words, unit } = wordsOf(key)
    const name = typeof part.title === 'string' ? part.title : words
    const withUnit = (text: string) => (unit ? `${text} ${unit}` : text)
    const shown = readable(value[key])
    if (shown !== undefined) return [{ key, name, value: withUnit(shown) }]
    return measurementsOf(fieldsOf(value[key]), part).map((inner) => ({
      key,
      name: `${name} ${inner.key}`,
      value: withUnit(inner.value),
    }))
  })
}

/** Splits a key into words and unit: `cost_per_call_usdc` becomes "Cost per call" in USDC. */
function wordsOf(key: string): { words: string; unit: string | undefined } {
  const words = key.split('_')
  const unit = words.length > 1 ? UNITS[words.at(-1) ?? ''] : undefined
  const name = (unit ? words.slice(0, -1) : words).join(' ')
  return { words: name.charAt(0).toUpperCase() + name.slice(1), unit }
}

/** Formats a simple value; returns undefined for lists and objects. */
function readable(value: unknown): string | undefined {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return grouped(value)
  return value instanceof NumberText ? grouped(String(value)) : undefined
}

/** Groups digits: `1200000.5` becomes `1,200,000.5`. */
function grouped(text: string): string {
  const [, whole, rest = ''] = /^(\d+)(\.\d+)?$/.exec(text) ?? []
  const shown = whole === undefined ? text : whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',') + rest
  return shown.length <= MOST_CHARACTERS ? shown : `${shown.slice(0, MOST_CHARACTERS - 1).toWellFormed()}…`
}
