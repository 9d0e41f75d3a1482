// An MCP tool is a plain object, like a route (`route.ts`): its input, its output and the operation behind it.
import type { z } from 'zod'
import type { BodyLimits } from './body-limits.ts'
import type { Chain, Context } from './context.ts'

export interface ToolCall<I> {
  context: Context
  /** The chain of the parameter `chain_id`, or the default chain. */
  chain: Chain
  isChainNamed: boolean
  /** Key of the client for rate limits: an IP address, or an IPv6 network. */
  client: string
  input: I
}

export interface ToolSpec<I> {
  name: string
  title: string
  /** Text for a model that does not know this service, read with every `tools/list`, so short: what the tool is for, when to use it, what to do next. */
  description: string
  /** What else there is to know, such as what the errors mean: shown by the resource `referrer://tools/{name}`. */
  details?: string
  /** The tool's input; `chain_id` is added to that of every tool. */
  input: z.ZodObject<z.ZodRawShape, z.core.$strip> & z.ZodType<I>
  /** What a call may hold, where it is more than usual. */
  most?: BodyLimits
  /** Fields that are required for the caller but optional in `input`, because the operation itself refuses a call without them. */
  needs?: readonly string[]
  /** Schema of the answer, an object; a list means that the answer matches one of the schemas. */
  output: z.ZodType | readonly z.ZodType[]
  /** Whether the tool changes nothing. */
  isReadOnly?: boolean
  /** Where a tool that changes nothing reads, as with routes. */
  reads?: 'replica' | 'primary'
  /** Whether a repeated call with the same input changes nothing more. */
  isIdempotent?: boolean
  /** A rate limit of this tool for each client, in calls per second, besides the common one. */
  perSecond?: number
  /** Whether refusals are shown without their kind at the end. */
  hasPlainErrors?: boolean
  /** Runs the operation. A returned string or buffer is JSON already. */
  handle(call: ToolCall<I>): unknown
}

/** Where a tool does its work, as with routes. */
export const accessOf = ({ isReadOnly, reads }: Tool): 'replica' | 'primary' | 'write' =>
  isReadOnly ? (reads ?? 'replica') : 'write'

/** A tool without its type parameters; `tool` has checked them. */
export type Tool = ToolSpec<never>

export const tool = <I>(spec: ToolSpec<I>): Tool => spec as unknown as Tool
