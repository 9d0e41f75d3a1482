import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { type Json, wholeJsonSchema } from '@referrer/process/openapi'
import type { z } from 'zod'
import type { Tool } from '../../kit/tool.ts'
import { chainId } from '../../kit/tool-fields.ts'
import { noticeOf, withNotice } from './untrusted.ts'

const answersOf = ({ output }: Pick<Tool, 'output'>): Json[] =>
  ([output].flat() as z.ZodType[]).map((answer) => wholeJsonSchema(answer, 'output'))

/** The notice about untrusted text in a tool's answers; undefined when they hold none. */
export const noticeFor = (tool: Pick<Tool, 'output'>): string | undefined => noticeOf(answersOf(tool))

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
  const answers = answersOf({ output })
  const notice = noticeOf(answers)
  const fields = wholeJsonSchema((input as z.ZodObject).extend({ chain_id: chainId }), 'input')
  const required = [...((fields.required as string[] | undefined) ?? []), ...needs]
  return {
    name,
    title,
    description: notice ? `${description}\n\n${notice}` : description,
    inputSchema: objectOf({ ...fields, required }),
    outputSchema: outputOf(notice ? answers.map(withNotice) : answers),
    annotations: {
      title,
      readOnlyHint: isReadOnly ?? false,
      // No tool deletes anything that belongs to somebody.
      destructiveHint: false,
      idempotentHint: isReadOnly ?? isIdempotent ?? false,
      openWorldHint: true,
    },
  }
}

/** The output schema. Clients require the type `object` at the top; several possible answers are an `anyOf` below it. */
function outputOf([only, ...others]: Json[]): ListedTool['outputSchema'] {
  if (others.length > 0) return objectOf({ type: 'object', anyOf: [only, ...others] })
  return objectOf({ type: 'object', ...only })
}

const objectOf = (schema: Json) => schema as Json & { type: 'object' }
