// How to call an endpoint, as its seller declares it: the extension `bazaar` of x402.
import { type Fields, fieldsOf, listOf } from '../../kit/loose-json.ts'
import { fits, refersElsewhere } from './fits.ts'

/** A declaration that is valid by the official rules and sets no header of ours. */
export type Declared = {
  info: { input: Fields & { type: 'http'; method: string } } & Fields
  schema: Fields
  routeTemplate?: string
}

const MOST_BYTES = 16 * 1024
const MOST_DEPTH = 32

const PRINTABLE = /^[\x20-\x7e]*$/
/** A client that is told to send another one throws, or sends more than one. */
const HEADER = /^[!#$%&'*+.^_`|~\w-]+$/
/** The link, the buyer and the payment are the buyer's to choose: with a header of these, a seller could choose whom a sale is credited to. */
const OURS = /^(?:x-referrer-|x-payment|payment-)/i
const TEMPLATE = /^\/[a-zA-Z0-9_/:.\-~%]+$/
const TEMPLATE_DECODINGS = 5

const BODY_METHODS = ['POST', 'PUT', 'PATCH']
const METHODS = ['GET', 'HEAD', 'DELETE', ...BODY_METHODS]
const BODY_TYPES = ['json', 'form-data', 'text']

/** Undefined: there is none, or none that is valid. */
export function declaredIn(given: unknown): Declared | undefined {
  if (!isStorable(given)) return undefined
  const { info, schema: described, routeTemplate } = fieldsOf(given)
  const schema = fieldsOf(described)
  if (schema !== described || refersElsewhere(schema)) return undefined
  const input = fieldsOf(fieldsOf(info).input)
  const { type, bodyType } = input
  if (type !== 'http' || (bodyType !== undefined && !BODY_TYPES.includes(bodyType as string)))
    return undefined
  // The official middleware writes down the method of the request, and ours is a GET. A body is sent with POST.
  const isOfRequest = bodyType !== undefined && !BODY_METHODS.includes(input.method as string)
  const method = isOfRequest ? 'POST' : (input.method ?? 'GET')
  if (typeof method !== 'string' || !METHODS.includes(method)) return undefined
  const { headers: named, ...rest } = input
  const headers = theirs(named, (value) => typeof value === 'string' && PRINTABLE.test(value))
  const declared: Declared = {
    info: { ...fieldsOf(info), input: { ...rest, type, method, ...(headers && { headers }) } },
    schema: withTheirHeaders(
      isOfRequest ? withInput(schema, { method: { type: 'string', enum: [method] } }) : schema,
    ),
    ...(isTemplate(routeTemplate) && { routeTemplate }),
  }
  const isSmall = Buffer.byteLength(JSON.stringify(declared)) <= MOST_BYTES
  return isSmall && fits(declared.info, declared.schema) ? declared : undefined
}

/** A schema that describes some fields of `input` in another way. */
export function withInput(schema: Fields, described: Fields): Fields {
  const properties = fieldsOf(schema.properties)
  const input = fieldsOf(properties.input)
  const known = { ...fieldsOf(input.properties), ...described }
  return { ...schema, properties: { ...properties, input: { ...input, properties: known } } }
}

/** What a schema says of the headers of `input`. */
export const headersIn = (schema: Fields): Fields =>
  fieldsOf(fieldsOf(fieldsOf(fieldsOf(schema.properties).input).properties).headers)

function withTheirHeaders(schema: Fields): Fields {
  const { properties, required, ...rest } = headersIn(schema)
  if (properties === undefined && required === undefined) return schema
  const names = listOf(required).filter((name) => typeof name === 'string' && isTheirs(name))
  const headers = {
    ...rest,
    ...(properties !== undefined && { properties: theirs(properties) ?? {} }),
    ...(names.length > 0 && { required: names }),
  }
  return withInput(schema, { headers })
}

const isTheirs = (header: string) => HEADER.test(header) && !OURS.test(header)

/** Without the headers of ours, and without those that are not valid; undefined: none is left. */
function theirs(headers: unknown, isValid: (value: unknown) => boolean = () => true): Fields | undefined {
  const left = Object.entries(fieldsOf(headers)).filter(([name, value]) => isTheirs(name) && isValid(value))
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

/** Numbers beyond these are written with hundreds of digits by Postgres, so that a small declaration would become a large one. */
const LARGEST_NUMBER = 1e16
const SMALLEST_NUMBER = 1e-7

/** Whether a value can be stored, written and read without harm: not too deep, text that Postgres holds, no key that sets a prototype. */
function isStorable(value: unknown, depth = MOST_DEPTH): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value === 'number') {
    const size = Math.abs(value)
    return size === 0 || (size >= SMALLEST_NUMBER && size <= LARGEST_NUMBER)
  }
  if (typeof value !== 'object' || value === null) return true
  return (
    depth > 0 &&
    Object.entries(value).every(
      ([name, inner]) => name !== '__proto__' && isStorable(name) && isStorable(inner, depth - 1),
    )
  )
}

/** By the official rules: a path, without dots or an address in it, however often it is encoded. */
function isTemplate(value: unknown): value is string {
  if (typeof value !== 'string' || !TEMPLATE.test(value)) return false
  let decoded = value
  for (let passes = 0; passes < TEMPLATE_DECODINGS; passes += 1) {
    const before = decoded
    try {
      decoded = decodeURIComponent(before)
    } catch {
      return false
    }
    if (decoded === before) return !decoded.includes('..') && !decoded.includes('://')
  }
  return false
}
