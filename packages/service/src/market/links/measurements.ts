// What a reviewer measured, to be read: the figures that the schema of the product's category names, as they were written.
import { type Fields, fieldsOf } from '../../kit/loose-json.ts'
import { measure, Written } from '../reviews/invariant.ts'

export interface Measurement {
  name: string
  value: string
}

/** A schema of a deployment may name many. */
const MOST = 24
const MOST_CHARACTERS = 60
const UNITS: Record<string, string> = { ms: 'ms', usdc: 'USDC', bytes: 'bytes', seconds: 's', percent: '%' }
/** Above all others, where a page shows them. */
const ELSEWHERE = new Set(['rating', 'description'])

/** `text` is a content that was taken, perhaps under another schema: what does not fit is left out. */
export const measurementsIn = (text: string, schema: Fields): Measurement[] =>
  measurementsOf(fieldsOf(measure(text)), schema)
    .filter(({ key }) => !ELSEWHERE.has(key))
    .slice(0, MOST)
    .map(({ name, value }) => ({ name, value }))

/** Those of a part carry its name and its unit: of `latency_ms.p50`, latency p50 in ms. */
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

/** `cost_per_call_usdc` is a cost per call, in USDC. */
function wordsOf(key: string): { words: string; unit: string | undefined } {
  const words = key.split('_')
  const unit = words.length > 1 ? UNITS[words.at(-1) ?? ''] : undefined
  const name = (unit ? words.slice(0, -1) : words).join(' ')
  return { words: name.charAt(0).toUpperCase() + name.slice(1), unit }
}

/** Undefined: nothing that a reader takes in at a glance. A number is an object that knows how it was written. */
function readable(value: unknown): string | undefined {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return grouped(value)
  return value instanceof Written ? grouped(String(value)) : undefined
}

/** `1200000.5` is `1,200,000.5`. */
function grouped(text: string): string {
  const [, whole, rest = ''] = /^(\d+)(\.\d+)?$/.exec(text) ?? []
  const shown = whole === undefined ? text : whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',') + rest
  return shown.length <= MOST_CHARACTERS ? shown : `${shown.slice(0, MOST_CHARACTERS - 1).toWellFormed()}…`
}
