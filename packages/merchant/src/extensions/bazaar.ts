// The `bazaar` extension of x402: how the endpoint is called and what it answers, for catalogues of services.
import { refuse } from '../refuse.ts'

/**
 * A JSON schema. References lead nowhere but into the schema itself (`#/…`).
 *
 * @example
 * ```ts
 * import type { JsonSchema } from '@referrer/merchant'
 *
 * export const topic: JsonSchema = { properties: { topic: { type: 'string' } }, required: ['topic'] }
 * ```
 */
export type JsonSchema = Record<string, unknown>

/**
 * How the endpoint is called: with a query by GET, or with a body by POST.
 *
 * @example
 * ```ts
 * import type { ProductInput } from '@referrer/merchant'
 *
 * export const query: ProductInput = {
 *   example: { topic: 'cats' },
 *   schema: { properties: { topic: { type: 'string' } }, required: ['topic'] },
 * }
 * export const body: ProductInput = { method: 'POST', bodyType: 'json', example: { text: 'Guten Tag' } }
 * ```
 */
export type ProductInput = {
  /** A query, or a body, as a buyer could send it. It has to fit the schema. */
  example?: Record<string, unknown>
  schema?: JsonSchema
} & ({ method?: 'GET' } | { method: 'POST'; bodyType?: 'json' | 'form-data' | 'text' })

/**
 * What the endpoint answers.
 *
 * @example
 * ```ts
 * import type { ProductOutput } from '@referrer/merchant'
 *
 * export const output: ProductOutput = {
 *   example: { joke: 'Two cats walk into a bar.' },
 *   schema: { properties: { joke: { type: 'string' } } },
 * }
 * ```
 */
export interface ProductOutput {
  example: unknown
  schema?: JsonSchema
}

export const BAZAAR = 'bazaar'
/** It travels in the header of the offer, and buyers send it back with the payment. */
const MAX_BYTES = 4_096
const BODY_TYPES = ['json', 'form-data', 'text']

type Fields = Record<string, unknown>

/** The declaration, as `declareDiscoveryExtension` of `@x402/extensions` makes it; undefined where nothing is to be declared. */
export function bazaarOf({
  input,
  output,
}: {
  input?: ProductInput | undefined
  output?: ProductOutput | undefined
}): Fields | undefined {
  if (input === undefined && output === undefined) return undefined
  const answered = output === undefined ? undefined : answerOf(output)
  const called = callOf(input ?? {})
  const declaration = {
    info: { input: called.info, ...(answered && { output: answered.info }) },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { input: called.schema, ...(answered && { output: answered.schema }) },
      required: ['input'],
    },
  }
  return bounded(declaration)
}

function callOf(input: ProductInput): { info: Fields; schema: Fields } {
  const {
    method = 'GET',
    example = {},
    schema = { properties: {} },
  } = fieldsOf(input, 'product.input') as {
    method?: unknown
    example?: Fields
    schema?: JsonSchema
  }
  checkExample(example, { type: 'object', ...checkedSchema(schema, 'product.input.schema') }, 'product.input')
  const type = { type: 'string', const: 'http' }
  if (method === 'GET') {
    if ('bodyType' in input) refuse('product.input.bodyType', 'left out where method is not POST')
    return {
      info: { type: 'http', method, queryParams: example },
      schema: {
        type: 'object',
        properties: {
          type,
          method: { type: 'string', enum: ['GET'] },
          queryParams: { type: 'object', ...schema },
        },
        required: ['type', 'method'],
        additionalProperties: false,
      },
    }
  }
  if (method !== 'POST') return refuse('product.input.method', "'GET' or 'POST'")
  const { bodyType = 'json' } = input as { bodyType?: string }
  if (!BODY_TYPES.includes(bodyType)) refuse('product.input.bodyType', 'json, form-data or text')
  return {
    info: { type: 'http', method, bodyType, body: example },
    schema: {
      type: 'object',
      properties: {
        type,
        method: { type: 'string', enum: ['POST'] },
        bodyType: { type: 'string', enum: BODY_TYPES },
        body: schema,
      },
      required: ['type', 'method', 'bodyType', 'body'],
      additionalProperties: false,
    },
  }
}

function answerOf(output: ProductOutput): { info: Fields; schema: Fields } {
  const { example, schema = {} } = fieldsOf(output, 'product.output') as unknown as ProductOutput
  if (example === undefined || example === null) refuse('product.output.example', 'an answer of the endpoint')
  const shape = { type: 'object', ...checkedSchema(schema, 'product.output.schema') }
  checkExample(example, shape, 'product.output')
  return {
    info: { type: 'json', example },
    schema: {
      type: 'object',
      properties: { type: { type: 'string' }, example: shape },
      required: ['type'],
    },
  }
}

/** Catalogues drop, without a word, declarations whose example misses its schema. This finds the usual mistakes, not all of them. */
function checkExample(value: unknown, schema: Fields, where: string): void {
  const { type, required, properties, items } = schema
  if (typeof type === 'string' && !isOfType(value, type)) {
    refuse(`${where}.example`, `of the type that its schema names: ${type}`)
  }
  if (isFields(value)) {
    for (const name of Array.isArray(required) ? required : []) {
      if (!Object.hasOwn(value, name)) refuse(`${where}.example`, `complete: its schema requires "${name}"`)
    }
    for (const [name, inner] of Object.entries(isFields(properties) ? properties : {})) {
      if (isFields(inner) && Object.hasOwn(value, name)) checkExample(value[name], inner, where)
    }
  } else if (Array.isArray(value) && isFields(items)) {
    for (const one of value) checkExample(one, items, where)
  }
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isFields(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

/** Whoever validates a schema must not be made to fetch another one. */
function checkedSchema(schema: unknown, where: string): Fields {
  const fields = fieldsOf(schema, where)
  const seek = (node: unknown): void => {
    if (Array.isArray(node)) for (const one of node) seek(one)
    else if (isFields(node)) {
      for (const [key, value] of Object.entries(node)) {
        const isOutside =
          (key === '$ref' || key === '$id') && !(typeof value === 'string' && value.startsWith('#'))
        if (isOutside) refuse(where, `without $ref and $id that lead out of it: ${key}`)
        seek(value)
      }
    }
  }
  try {
    seek(fields)
  } catch (error) {
    if (error instanceof RangeError) refuse(where, 'JSON, without circles')
    throw error
  }
  return fields
}

/** As it will be sent, so that nothing changes it later. */
function bounded(declaration: Fields): Fields {
  let json: string
  try {
    json = JSON.stringify(declaration)
  } catch {
    return refuse('product.input and product.output', 'JSON: no bigints, no circles')
  }
  const bytes = new TextEncoder().encode(json).length
  if (bytes > MAX_BYTES) {
    refuse(
      'product.input and product.output',
      `at most ${MAX_BYTES} bytes together as the extension "${BAZAAR}", not ${bytes}: shorten examples and schemas`,
    )
  }
  return JSON.parse(json)
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function fieldsOf(value: unknown, what: string): Fields {
  return isFields(value) ? value : refuse(what, 'an object')
}
