// Generates an OpenAPI 3.1 document from the zod schemas of requests and answers.
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { type Json, toJsonSchema } from './json-schema.ts'

/** One operation of the document. Its schemas are zod schemas or JSON Schemas. */
export interface Operation {
  method: string
  /** The path, with parameters in braces: `/v1/review/{id}`. */
  path: string
  /** The group of the operation in the API reference. */
  tag: string
  summary: string
  about?: string | undefined
  /** The alternative ways to authenticate; empty when everybody may call. */
  security: readonly Json[]
  params?: Fields
  query?: Fields
  body?: z.ZodType | undefined
  answers: Record<number, DescribedAnswer>
}

export type Fields = Record<string, z.ZodType>

export interface DescribedAnswer {
  description: string
  /** Schemas by media type; undefined when the answer has no body. */
  content?: Record<string, { schema: z.ZodType | Json; examples?: Json }>
  headers?: Json
}

export interface About {
  title: string
  about: string
  version: string
  baseUrl: string
  /** Descriptions of the groups of operations. */
  tags: Readonly<Record<string, string>>
  securitySchemes: Json
  /** Schemas that operations refer to by name. */
  schemas?: Json
}

export function describeOperations(
  operations: readonly Operation[],
  { title, about, version, baseUrl, tags, securitySchemes, schemas: named = {} }: About,
) {
  const schemas: Json = { ...named }
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    const { path, method } = operation
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(operation, schemas) }
  }
  const license = { name: 'MIT', identifier: 'MIT' }
  return {
    openapi: '3.1.0',
    info: { title, version, description: about, license },
    servers: [{ url: baseUrl }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({
      name,
      ...(tags[name] && { description: tags[name] }),
    })),
    paths,
    components: { schemas, securitySchemes },
  }
}

function describe(operation: Operation, schemas: Json): Json {
  const { method, path, tag, summary, about, security, params = {}, query = {}, body, answers } = operation
  const parameters = [...parametersOf('path', params, schemas), ...parametersOf('query', query, schemas)]
  const responses = Object.entries(answers).map(([status, answer]) => [status, responseOf(answer, schemas)])
  return {
    operationId: operationId(method, path),
    tags: [tag],
    summary,
    ...(about && { description: about }),
    security,
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { 'application/json': { schema: schemaOf(body, 'input', schemas) } },
      },
    }),
    responses: Object.fromEntries(responses),
  }
}

/** Builds an operation id: `GET /v1/review/{id}` becomes `getReviewById`. */
function operationId(method: string, path: string): string {
  const words = path
    .replace(/^\/v1\//, '/')
    .replaceAll('{', 'by-')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function parametersOf(place: 'path' | 'query', fields: Fields, schemas: Json): Json[] {
  return Object.entries(fields).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field, 'input', schemas)
    return {
      name,
      in: place,
      required: place === 'path' || !field.safeParse(undefined).success,
      ...(description !== undefined && { description }),
      schema,
    }
  })
}

function responseOf({ description, content, headers }: DescribedAnswer, schemas: Json): Json {
  const bodies = Object.entries(content ?? {}).map(([type, { schema, examples }]) => [
    type,
    { schema: schemaOf(schema, 'output', schemas), ...(examples && { examples }) },
  ])
  return {
    description,
    ...(headers && { headers }),
    ...(bodies.length > 0 && { content: Object.fromEntries(bodies) }),
  }
}

/** Converts a schema to JSON Schema, and moves its named schemas to `#/components/schemas`. */
function schemaOf(schema: z.ZodType | Json, io: 'input' | 'output', schemas: Json): Json {
  if (!isZod(schema)) return schema
  const { $defs, ...json } = toJsonSchema(schema, io)
  const moved = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('#/$defs/', '#/components/schemas/')) as Json
  for (const [name, definition] of Object.entries(moved($defs ?? {}))) {
    if (schemas[name] && !isDeepStrictEqual(schemas[name], definition)) {
      throw new Error(`two schemas are called ${name}; give one of them another id`)
    }
    schemas[name] = definition
  }
  return moved(json)
}

const isZod = (schema: z.ZodType | Json): schema is z.ZodType => '_zod' in schema

/** OpenAPI examples, with keys made from their names. */
export function examplesOf(bodies: readonly { name: string; value: Json }[]): Json {
  return Object.fromEntries(bodies.map(({ name, value }) => [exampleName(name), { value }]))
}

function exampleName(text: string): string {
  return text.replaceAll(/\W+/g, '-').replaceAll(/^-|-$/g, '') || 'error'
}
