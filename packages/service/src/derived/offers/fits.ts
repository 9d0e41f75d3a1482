// Checks a value against a JSON Schema that a stranger wrote. Only the keywords that official declarations are made of are read; the
// others allow everything. A whole validator would run the stranger's regular expressions, and follow references that can take for ever.
import { fieldsOf, listOf } from '../../kit/loose-json.ts'

/** Takes at most (size of the schema) × (size of the value) steps. Both are bounded in depth by the caller. */
export function fits(value: unknown, schema: unknown): boolean {
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
  if (type !== undefined && ![type].flat().some((name) => isOfType(value, name))) return false
  if (only !== undefined && !isSame(value, only)) return false
  if (some !== undefined && !listOf(some).some((one) => isSame(value, one))) return false
  if (Array.isArray(value)) return items === undefined || value.every((item) => fits(item, items))
  if (typeof value !== 'object' || value === null) return true
  const known = fieldsOf(properties)
  const isKnown = (name: string) => Object.hasOwn(known, name)
  return (
    listOf(required).every((name) => typeof name === 'string' && Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, inner]) =>
      isKnown(name)
        ? fits(inner, known[name])
        : additionalProperties === undefined || fits(inner, additionalProperties),
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
