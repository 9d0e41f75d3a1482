// A tool is data, as a route is (`http/route.ts`): what it takes, what it answers, and the operation behind it.
import type { z } from 'zod'
import type { Chain, Context } from './context.ts'

export interface ToolCall<I> {
  context: Context
  /** The one that `chain_id` names, or the default. */
  chain: Chain
  isChainNamed: boolean
  /** Whom the limits count for: an address, or a network of them. */
  client: string
  input: I
}

export interface ToolSpec<I> {
  name: string
  title: string
  /** For a model that has never heard of us: what it is for, when to use it, what to do next, what the errors mean. */
  description: string
  /** Every tool takes `chain_id` beside these. */
  input: z.ZodObject<z.ZodRawShape, z.core.$strip> & z.ZodType<I>
  /** Fields that must be sent, though it is for the operation to say that they are missing. */
  needs?: readonly string[]
  /** An object. Of several, the answer is one. */
  output: z.ZodType | readonly z.ZodType[]
  /** It changes nothing. */
  isReadOnly?: boolean
  /** Calling it again with the same changes nothing more. */
  isIdempotent?: boolean
  /** Of each client, beside the limit of all requests. */
  perSecond?: number
  /** Its refusals are shown without their kind at the end. */
  hasPlainErrors?: boolean
  /** A string or bytes are JSON, ready to be sent. */
  handle(call: ToolCall<I>): unknown
}

/** A tool whose types were checked when it was written. */
export type Tool = ToolSpec<never>

export const tool = <I>(spec: ToolSpec<I>): Tool => spec as unknown as Tool
