// Tools as a model sees them. `tools/list` is read before anything is done, so what it says is short: its schemas leave out limits,
// examples and what is inside of an answer. The resources `referrer-signer://tools/{name}` show the whole.
import type { Tool as ListedTool, ToolAnnotations } from '@modelcontextprotocol/server'
import { z } from 'zod'

type Json = Record<string, unknown>

export interface Described {
  name: string
  title: string
  description: string
  details?: string
  input: z.ZodObject
  output: z.ZodObject
  annotations: ToolAnnotations
}

/** Fields that mean the same in every tool: the instructions and the descriptions of the tools explain them. */
const COMMON = new Set(['agent_id', 'merchant_id', 'product_id', 'escrow_id', 'chain_id', 'commitment'])

export function listed({ name, title, description, annotations, ...tool }: Described): ListedTool {
  const { input, output } = schemasOf(tool)
  return {
    name,
    title,
    description,
    inputSchema: objectOf(briefInput(input)),
    outputSchema: objectOf(briefOutput(output)),
    annotations: briefHints(annotations),
  }
}

export function explained({
  name,
  title,
  description,
  details,
  annotations,
  ...tool
}: Described): ListedTool {
  const { input, output } = schemasOf(tool)
  return {
    name,
    title,
    description: details ? `${description}\n\n${details}` : description,
    inputSchema: objectOf(input),
    outputSchema: objectOf(output),
    annotations,
  }
}

const schemasOf = ({ input, output }: Pick<Described, 'input' | 'output'>) => ({
  input: z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Json,
  output: z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }) as Json,
})

const objectOf = (schema: Json) => schema as Json & { type: 'object' }

function briefInput(schema: Json): Json {
  const { anyOf, description, properties, required = [], items, enum: values } = schema
  return {
    // Not a list of types, which some hosts do not take.
    ...(anyOf ? { anyOf: (anyOf as Json[]).map(briefInput) } : typeOf(schema)),
    ...(description !== undefined && { description }),
    ...(values !== undefined && { enum: values }),
    ...(properties !== undefined && { properties: fieldsOf(properties as Record<string, Json>) }),
    ...((required as string[]).length > 0 && { required }),
    ...(items !== undefined && { items: briefInput(items as Json) }),
  }
}

const fieldsOf = (fields: Record<string, Json>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { description, ...field }]) => [
      name,
      briefInput(COMMON.has(name) ? field : { ...field, description }),
    ]),
  )

/** The fields of an answer, each with its type or its values and without what is inside. */
function briefOutput({ properties, required = [] }: Json): Json {
  const fields = Object.entries(properties as Record<string, Json>).map(([name, field]) => [
    name,
    field.enum === undefined ? typeOf(field) : { enum: field.enum },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(fields),
    ...((required as string[]).length > 0 && { required }),
  }
}

/** The types that a value may have; nothing where it may have any. */
function typeOf(schema: Json): Json {
  const types = [...new Set(typesOf(schema))]
  if (types.includes(undefined)) return {}
  return { type: types.length === 1 ? types[0] : types }
}

const typesOf = ({ type, anyOf }: Json): (string | undefined)[] =>
  anyOf ? (anyOf as Json[]).flatMap(typesOf) : ([type].flat() as (string | undefined)[])

/** Leaves out hints that the protocol assumes when they are missing, and those that mean nothing for a tool that only reads. */
const briefHints = ({
  readOnlyHint = false,
  destructiveHint = true,
  idempotentHint = false,
  openWorldHint = true,
}: ToolAnnotations): ToolAnnotations => ({
  readOnlyHint,
  ...(!readOnlyHint && !destructiveHint && { destructiveHint }),
  ...(!readOnlyHint && idempotentHint && { idempotentHint }),
  ...(!openWorldHint && { openWorldHint }),
})
