// What a reviewer measured, to be read: the figures that the schema of the product's category names, as they were written.
import { fieldsOf } from '../loose-json.ts'
import { measure } from '../reviews/invariant.ts'

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
export function measurementsIn(text: string, schema: Readonly<Record<string, unknown>>): Measurement[] {
  const content = fieldsOf(measure(text))
  return Object.entries(fieldsOf(schema.properties))
    .filter(([key]) => !ELSEWHERE.has(key) && Object.hasOwn(content, key))
    .flatMap(([key, part]) => {
      const { title } = fieldsOf(part)
      const { name, unit } = namesOf(key)
      const value = readable(content[key], fieldsOf(part))
      const shown = typeof title === 'string' ? title : name
      return value === undefined ? [] : [{ name: shown, value: unit ? `${value} ${unit}` : value }]
    })
    .slice(0, MOST)
}

/** `cost_per_call_usdc` is a cost per call, in USDC. */
function namesOf(key: string): { name: string; unit: string | undefined } {
  const words = key.split('_')
  const unit = words.length > 1 ? UNITS[words.at(-1) ?? ''] : undefined
  const name = (unit ? words.slice(0, -1) : words).join(' ')
  return { name: name.charAt(0).toUpperCase() + name.slice(1), unit }
}

/** Undefined: nothing that a reader takes in at a glance. */
function readable(value: unknown, schema: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return grouped(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  // A number as it was written.
  if (Object.getPrototypeOf(value) !== Object.prototype) return grouped(String(value))
  const parts = Object.keys(fieldsOf(schema.properties)).flatMap((key) => {
    const part = Object.hasOwn(value, key) ? readable(fieldsOf(value)[key], {}) : undefined
    return part === undefined ? [] : [`${key} ${part}`]
  })
  return parts.length > 0 ? parts.slice(0, MOST).join(' · ') : undefined
}

/** `1200000.5` is `1,200,000.5`. */
function grouped(text: string): string {
  const [, whole, rest = ''] = /^(\d+)(\.\d+)?$/.exec(text) ?? []
  const shown = whole === undefined ? text : whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',') + rest
  return shown.length <= MOST_CHARACTERS ? shown : `${shown.slice(0, MOST_CHARACTERS - 1).toWellFormed()}…`
}
