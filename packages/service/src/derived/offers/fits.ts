// Checks a value against a JSON Schema that a stranger wrote. Only the keywords that official declarations are made of are read; the
// others allow everything. A whole validator would run the stranger's regular expressions, and follow references that can take for ever.
import { fieldsOf, listOf } from '../../kit/loose-json.ts'

/** A list of choices that is compared with every item of a list makes millions of steps of a few kilobytes. */
const MOST_STEPS = 100_000

/** False, too, when it takes too many steps to tell. The caller bounds the depth of both. */
export function fits(value: unknown, schema: unknown, budget = { steps: MOST_STEPS }): boolean {
  if (typeof schema === 'boolean') return schema
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false
  const {
    type,
    const: only,
    enum: some,
    required,
    properties,
    additionalProperties,
    items,
  } = fieldsOf(schema)
  budget.steps -= 1 + listOf(type).length + listOf(some).length + listOf(required).length
  if (budget.steps < 0) return false
  if (type !== undefined && ![type].flat().some((name) => isOfType(value, name))) return false
  if (only !== undefined && !isSame(value, only)) return false
  if (some !== undefined && !listOf(some).some((one) => isSame(value, one))) return false
  if (Array.isArray(value)) return items === undefined || value.every((item) => fits(item, items, budget))
  if (typeof value !== 'object' || value === null) return true
  const known = fieldsOf(properties)
  const isKnown = (name: string) => Object.hasOwn(known, name)
  return (
    listOf(required).every((name) => typeof name === 'string' && Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, inner]) =>
      isKnown(name)
        ? fits(inner, known[name], budget)
        : additionalProperties === undefined || fits(inner, additionalProperties, budget),
    )
  )
}

/** Whether a schema refers to another document, as the official check finds it. */
export function refersElsewhere(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false
  return Object.entries(node).some(([name, value]) => {
    const isReference = !Array.isArray(node) && (name === '$ref' || name === '$id')
    return (isReference && (typeof value !== 'string' || !value.startsWith('#'))) || refersElsewhere(value)
  })
}

function isOfType(value: unknown, name: unknown): boolean {
  switch (name) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === name
  }
}

/** Lists and objects are not compared, which could take long. */
const isSame = (value: unknown, told: unknown) =>
  value === told || (typeof value === 'object' && value !== null && typeof told === 'object' && told !== null)
