import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { type Json, wholeJsonSchema } from '@referrer/process/openapi'
import type { z } from 'zod'
import { chainId } from './fields.ts'
import type { Tool } from './tool.ts'

/** A tool as `tools/list` shows it. */
export function listed({
  name,
  title,
  description,
  input,
  needs = [],
  output,
  isReadOnly,
  isIdempotent,
}: Tool): ListedTool {
  const fields = wholeJsonSchema((input as z.ZodObject).extend({ chain_id: chainId }), 'input')
  const required = [...((fields.required as string[] | undefined) ?? []), ...needs]
  return {
    name,
    title,
    description,
    inputSchema: objectOf({ ...fields, required }),
    outputSchema: outputOf([output].flat() as z.ZodType[]),
    annotations: {
      title,
      readOnlyHint: isReadOnly ?? false,
      // Nothing that a tool does takes away what somebody has.
      destructiveHint: false,
      idempotentHint: isReadOnly ?? isIdempotent ?? false,
      openWorldHint: true,
    },
  }
}

/** Clients want an object; an answer of one of several is told below it. */
function outputOf(answers: z.ZodType[]): ListedTool['outputSchema'] {
  const [only, ...others] = answers.map((answer) => wholeJsonSchema(answer, 'output'))
  if (others.length > 0) return objectOf({ type: 'object', anyOf: [only, ...others] })
  return objectOf({ type: 'object', ...only })
}

const objectOf = (schema: Json) => schema as Json & { type: 'object' }
