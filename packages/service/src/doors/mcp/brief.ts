// Short forms of JSON Schema for `tools/list`. A model reads that list before it does anything, so every word in it costs every user.
// The whole schemas validate the calls and are shown by the resources `referrer://tools/{name}`.
import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { Json } from '@referrer/process/openapi'

/** Fields that mean the same in every tool: the instructions of the server explain them once. */
const COMMON = new Set([
  ...['agent_id', 'merchant_id', 'product_id', 'escrow_id', 'chain_id'],
  ...['nonce', 'expiry', 'agent_sig'],
])

/** What a tool takes: every field, which are required, and what is to be said of it. Limits and examples are left out. */
export function briefInput(schema: Json): Json {
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

/** What a tool answers: the fields of all its possible answers, each with its type and without what is inside. */
export function briefOutput(answers: readonly Json[]): Json {
  const shapes = answers.map(({ properties, required = [] }) => ({
    fields: properties as Record<string, Json>,
    required: required as string[],
  }))
  const names = [...new Set(shapes.flatMap(({ fields }) => Object.keys(fields)))]
  const required = names.filter((name) => shapes.every((shape) => shape.required.includes(name)))
  return {
    type: 'object',
    properties: Object.fromEntries(
      names.map((name) => [
        name,
        typeOrValues(shapes.map(({ fields }) => fields[name]).filter((field) => field !== undefined)),
      ]),
    ),
    ...(required.length > 0 && { required }),
  }
}

function typeOrValues(fields: Json[]): Json {
  const values = fields.map(
    (field) => field.enum ?? (Object.hasOwn(field, 'const') ? [field.const] : undefined),
  )
  if (values.every((some) => some !== undefined)) return { enum: [...new Set(values.flat())] }
  return typeOf({ anyOf: fields })
}

/** The types that a value may have; nothing where it may have any. */
function typeOf(schema: Json): Json {
  const types = [...new Set(typesOf(schema))]
  if (types.includes(undefined)) return {}
  return { type: types.length === 1 ? types[0] : types }
}

const typesOf = ({ type, anyOf }: Json): (string | undefined)[] =>
  anyOf ? (anyOf as Json[]).flatMap(typesOf) : ([type].flat() as (string | undefined)[])

/** Leaves out hints that the protocol assumes when they are missing, those that mean nothing for a tool that only reads, and the title. */
export const briefHints = ({
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
