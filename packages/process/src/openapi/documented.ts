// Checks real requests and answers against an OpenAPI document; for tests.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

type Schema = Record<string, unknown>

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

export interface Parameter {
  name: string
  in: 'path' | 'query'
  schema: Schema
}

export interface Operation {
  /** Method and path, like `GET /v1/review/{id}`. */
  name: string
  method: string
  path: string
  parameters: Parameter[]
  hasBody: boolean
  /** Whether the body matches the documented schema. */
  takes(body: unknown): boolean
  /** The status of a successful answer. */
  success: number
  statuses: number[]
  /** Describes how an answer differs from the document; undefined when it does not. */
  violation(answer: Answer): string | undefined
}

interface Document {
  paths: Record<string, Record<string, Described>>
  components: Schema
}

interface Described {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

export function operationsOf({ paths, components }: Document): Operation[] {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  const compile = (schema: Schema) => ajv.compile({ ...schema, components })
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, responses }]) => {
      const known = new Map(
        Object.entries(responses).map(([status, { content = {} }]) => [
          Number(status),
          new Map(Object.entries(content).map(([type, { schema }]) => [type, compile(schema)])),
        ]),
      )
      const statuses = [...known.keys()]
      const taken = requestBody?.content['application/json']?.schema
      const takes = taken ? compile(taken) : () => false
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        parameters,
        hasBody: requestBody !== undefined,
        takes: (body: unknown) => takes(body) === true,
        success: Math.min(...statuses),
        statuses,
        violation: (answer: Answer) => violationOf(known, answer),
      }
    }),
  )
}

function violationOf(
  known: Map<number, Map<string, ValidateFunction>>,
  { status, headers, text }: Answer,
): string | undefined {
  const types = known.get(status)
  if (!types) return `${status} is not documented`
  if (types.size === 0) return text === '' ? undefined : `${status} has a body, and none is documented`
  const type = String(headers['content-type']).split(';')[0] ?? ''
  const validate = types.get(type)
  if (!validate) return `${status} is of the undocumented type ${type}`
  const value = type === 'application/json' ? parsed(text) : text
  return validate(value) ? undefined : `${status} does not fit its schema: ${JSON.stringify(validate.errors)}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
