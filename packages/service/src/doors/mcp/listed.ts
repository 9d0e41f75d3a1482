import type { Tool as ListedTool, ToolAnnotations } from '@modelcontextprotocol/server'
import { oncePer } from '@referrer/process'
import { type Json, wholeJsonSchema } from '@referrer/process/openapi'
import type { z } from 'zod'
import type { Tool } from '../../kit/tool.ts'
import { chainId } from '../../kit/tool-fields.ts'
import { briefHints, briefInput, briefOutput } from './brief.ts'
import { noticeOf, withNotice } from './untrusted.ts'

// Each schema is converted once for a tool, however often a process starts a service.
const answersOf = oncePer<Pick<Tool, 'output'>>()(({ output }): Json[] =>
  ([output].flat() as z.ZodType[]).map((answer) => wholeJsonSchema(answer, 'output')),
)

/** The notice about untrusted text in a tool's answers; undefined when they hold none. */
export const noticeFor = oncePer<Pick<Tool, 'output'>>()((tool) => noticeOf(answersOf(tool)))

/** A tool as `tools/list` shows it: short, and enough to choose and to call it. */
export const listed = oncePer<Tool>()((tool): ListedTool => {
  const { name, title, description } = tool
  return {
    name,
    title,
    description,
    inputSchema: objectOf(briefInput(inputOf(tool))),
    outputSchema: objectOf(briefOutput(notedAnswersOf(tool))),
    annotations: briefHints(hintsOf(tool)),
  }
})

/** A tool with all that there is to say of it: what its errors mean, and the whole schemas. */
export const explained = oncePer<Tool>()((tool): ListedTool => {
  const { name, title, description, details } = tool
  return {
    name,
    title,
    description: [description, details, noticeFor(tool)].filter(Boolean).join('\n\n'),
    inputSchema: objectOf(inputOf(tool)),
    outputSchema: outputOf(notedAnswersOf(tool)),
    annotations: hintsOf(tool),
  }
})

const hintsOf = ({ title, isReadOnly = false, isIdempotent = false }: Tool): ToolAnnotations => ({
  title,
  readOnlyHint: isReadOnly,
  // No tool deletes anything that belongs to somebody.
  destructiveHint: false,
  idempotentHint: isReadOnly || isIdempotent,
  openWorldHint: true,
})

const inputOf = oncePer<Tool>()(({ input, needs = [] }): Json => {
  const fields = wholeJsonSchema((input as z.ZodObject).extend({ chain_id: chainId }), 'input')
  return { ...fields, required: [...((fields.required as string[] | undefined) ?? []), ...needs] }
})

function notedAnswersOf(tool: Tool): Json[] {
  const answers = answersOf(tool)
  return noticeFor(tool) ? answers.map(withNotice) : answers
}

/** The output schema. Clients require the type `object` at the top; several possible answers are an `anyOf` below it. */
function outputOf([only, ...others]: Json[]): ListedTool['outputSchema'] {
  if (others.length > 0) return objectOf({ type: 'object', anyOf: [only, ...others] })
  return objectOf({ type: 'object', ...only })
}

const objectOf = (schema: Json) => schema as Json & { type: 'object' }
