// A tool is a description, an input and an output schema, and a function.
import type { Tool as ListedTool, McpServer, ToolAnnotations } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import type { Context } from './context.ts'
import { explained, listed } from './listed.ts'
import { explain, isExpected, Refused } from './refused.ts'

export interface ToolSpec<I extends z.ZodObject, O extends z.ZodObject> {
  name: string
  title: string
  /** For a model that has never heard of us, read with every `tools/list`, so short: what it is for, when to use it, what to do next. */
  description: string
  /** What else there is to know, such as what the errors mean: shown by the resource `referrer-signer://tools/{name}`. */
  details?: string
  input: I
  output: O
  annotations: ToolAnnotations
  /** The signal aborts when the caller no longer waits for the answer. */
  handle(context: Context, input: z.output<I>, signal: AbortSignal): Promise<z.input<O>>
}

export interface Tool {
  name: string
  title: string
  /** As `tools/list` shows it. */
  listed: ListedTool
  /** With all that there is to say of it, and its whole schemas. */
  explained: ListedTool
  register(server: McpServer, context: Context): void
}

export const tool = <I extends z.ZodObject, O extends z.ZodObject>(spec: ToolSpec<I, O>): Tool => ({
  name: spec.name,
  title: spec.title,
  listed: listed(spec),
  explained: explained(spec),
  register(server, context) {
    const { name, title, description, input, output, annotations } = spec
    server.registerTool<z.ZodObject, z.ZodObject>(
      name,
      { title, description, inputSchema: input, outputSchema: output, annotations },
      async (given, { mcpReq }) => {
        try {
          const structuredContent = await spec.handle(context, given as z.output<I>, mcpReq.signal)
          const text = JSON.stringify(structuredContent)
          return { structuredContent, content: [{ type: 'text', text }] }
        } catch (error) {
          context.log(`${name}: ${isExpected(error) ? 'refused' : `failed, ${error}`}`)
          const data = error instanceof Refused ? error.data : undefined
          const texts = [explain(error), ...(data ? [JSON.stringify(data)] : [])]
          return { isError: true, content: texts.map((text) => ({ type: 'text', text })) }
        }
      },
    )
  },
})
