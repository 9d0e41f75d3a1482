// Explains to a caller what is wrong with a request body: which field, and what is expected. It repeats field names, never values.

import { oncePer } from '@referrer/process'
import { type Json, wholeJsonSchema } from '@referrer/process/openapi'
import type { z } from 'zod'

const MOST_CHARACTERS = 400
/** Limit for the length of a path, because the caller chooses the field names in it. */
const MOST_OF_PATH = 80

export const NO_JSON = 'the body must be JSON, as UTF-8'

/** Describes the first issue of a body that does not match its schema. */
export function detailOf(schema: z.ZodType, { issues: [issue] }: z.ZodError, given: unknown): string {
  const path = issue?.path ?? []
  const place = placeOf(path) || 'the body'
  const wanted = path.reduce<Json>(within, asJson(schema))
  if (issue?.code === 'unrecognized_keys') {
    return unknownFieldText(place, namesOf(wanted))
  }
  const isMissing = path.length > 0 && valueAt(given, path) === undefined
  const { description } = wanted
  const meaning = typeof description === 'string' ? ` (${description.replace(/\.$/, '')})` : ''
  return cut(`${place} ${isMissing ? 'is missing: it ' : ''}must be ${expected(wanted)}${meaning}`)
}

/** Names an unknown field in a body that matches its schema, because a misspelled optional field counts as left out. */
export function unknownFieldOf(schema: z.ZodType, given: unknown): string | undefined {
  const wanted = asJson(schema)
  const names = namesOf(wanted)
  const takesAny = names.length === 0 || wanted.additionalProperties
  if (takesAny || Object.keys(Object(given)).every((name) => names.includes(name))) return undefined
  return unknownFieldText('the body', names)
}

const unknownFieldText = (place: string, names: string[]) =>
  cut(`${place} has an unknown field; known fields are ${names.join(', ')}`)

const asJson = oncePer<z.ZodType>()((schema) => wholeJsonSchema(schema, 'input'))

/** The schema of a field or item. It is empty, which accepts anything, when the outer schema does not describe its parts. */
function within(schema: Json, key: PropertyKey): Json {
  for (const { properties, items, additionalProperties } of [schema, ...branches(schema)]) {
    const part = (properties as Json | undefined)?.[String(key)] ?? items ?? additionalProperties
    if (typeof part === 'object' && part !== null) return part as Json
  }
  return {}
}

const branches = ({ anyOf, oneOf }: Json) => (anyOf ?? oneOf ?? []) as Json[]
const namesOf = ({ properties }: Json) => Object.keys((properties as Json | undefined) ?? {})

function expected(schema: Json): string {
  const { type, enum: values, const: only, required } = schema
  if (branches(schema).length > 0) return [...new Set(branches(schema).map(expected))].join(' or ')
  if (Array.isArray(type)) return type.map((each) => expected({ ...schema, type: each })).join(' or ')
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values)) return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
  switch (type) {
    case 'integer':
    case 'number':
      return `${type === 'integer' ? 'a whole number' : 'a number'}${rangeOf(schema)}`
    case 'string':
      return `a text${exampleOf(schema)}${countOf(schema.minLength, schema.maxLength, 'characters')}`
    case 'array':
      return `a list${countOf(schema.minItems, schema.maxItems, 'items')}`
    case 'object':
      return Array.isArray(required) ? `an object with ${required.join(', ')}` : 'an object'
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    default:
      return 'something else'
  }
}

function rangeOf({ minimum, maximum }: Json): string {
  const isBound = (bound: unknown) => typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER
  if (isBound(minimum) && isBound(maximum)) return ` from ${minimum} to ${maximum}`
  if (isBound(minimum)) return `, ${minimum} or more`
  return isBound(maximum) ? `, ${maximum} or less` : ''
}

function exampleOf({ examples, pattern, format }: Json): string {
  const [example] = Array.isArray(examples) ? examples : []
  if (example) return ` like ${JSON.stringify(example)}`
  if (pattern) return ` that matches ${pattern}`
  return format ? ` of the format ${format}` : ''
}

function countOf(least: unknown, most: unknown, what: string): string {
  if (least !== undefined && most !== undefined) return ` of ${least} to ${most} ${what}`
  if (most !== undefined) return ` of at most ${most} ${what}`
  return least === undefined ? '' : ` of at least ${least} ${what}`
}

/** Formats a path like `votes[0].review_id`. */
export const placeOf = (path: readonly PropertyKey[]): string =>
  cut(
    path
      .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at ? '.' : ''}${String(part)}`))
      .join(''),
    MOST_OF_PATH,
  )

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (Object.hasOwn(Object(value), key) ? Object(value)[key] : undefined),
    given,
  )
}

const cut = (text: string, most = MOST_CHARACTERS) =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`
