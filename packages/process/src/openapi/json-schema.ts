// Converts zod schemas to JSON Schema, for the API reference and for models that call tools.
import { z } from 'zod'
import { oncePer } from '../once.ts'

export type Json = Record<string, unknown>

const converters = {
  input: oncePer<z.ZodType>()(convert('input')),
  output: oncePer<z.ZodType>()(convert('output')),
}

/** JSON Schema with the named schemas under `$defs`. Must not be changed: a schema is converted once. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  return converters[io](schema)
}

function convert(io: 'input' | 'output') {
  return (schema: z.ZodType): Json => {
    const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override }) as Json
    return json
  }
}

/** Replaces a schema by its `shown` form and removes our own metadata. */
function override({ jsonSchema }: { jsonSchema: object }): void {
  const { shown, about, absent: _absent, refusal: _refusal, ...rest } = { ...jsonSchema } as Json
  for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Json)[key]
  Object.assign(jsonSchema, shown ?? rest, about ? { description: about } : {})
}

/** JSON Schema with all references inlined, because not every client resolves them. */
export function wholeJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $defs = {}, ...json } = toJsonSchema(schema, io)
  const definitions = $defs as Record<string, Json>
  const whole = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(whole)
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...rest } = value as Json
    // Removes the `id` of a schema, which is a string. A property named `id` is an object and stays.
    const entries = Object.entries(rest)
      .filter(([key, child]) => key !== 'id' || typeof child !== 'string')
      .map(([key, child]) => [key, whole(child)])
    if (typeof $ref !== 'string') return Object.fromEntries(entries)
    return { ...(whole(definitions[$ref.replace('#/$defs/', '')]) as Json), ...Object.fromEntries(entries) }
  }
  return whole(json) as Json
}
