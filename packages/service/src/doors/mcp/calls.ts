// Calls of tools: validates the arguments, runs the operation and formats its result or error.
import { withTimeout } from '@referrer/process'
import type { Json } from '@referrer/process/openapi'
import type { z } from 'zod'
import { chainOf } from '../../kit/chain-of.ts'
import type { Context } from '../../kit/context.ts'
import { placeOf } from '../../kit/detail.ts'
import { MarketError, refused } from '../../kit/market-error.ts'
import { countRefusal, kindOf } from '../../kit/refusals.ts'
import { accessOf, type Tool, type ToolCall } from '../../kit/tool.ts'
import { chainId as chainIdField, NEGATIVE } from '../../kit/tool-fields.ts'
import { reading, writing } from '../reads.ts'
import { noticeFor } from './listed.ts'
import { noted } from './untrusted.ts'

/** The result for the model: JSON as text and as data, or an error message. */
export type Outcome = { text: string; isError: true } | { text: string; isError: false; data: Json }

/** Returns undefined when there is no such tool. `client` is the key of the caller for rate limits. */
export type CallTool = (
  client: string,
  name: string,
  args: Record<string, unknown>,
) => Promise<Outcome | undefined>

export function createCalls(context: Context, tools: readonly Tool[]): CallTool {
  const known = new Map(
    tools.map((tool) => {
      const { perSecond } = tool
      const limiter =
        perSecond && context.limits.limiter(`tool ${tool.name}`, { perSecond, burst: perSecond })
      return [tool.name, { tool, limiter, notice: noticeFor(tool) }]
    }),
  )
  return async (client, name, args) => {
    const found = known.get(name)
    if (!found) return undefined
    const { tool, limiter, notice } = found
    const waitSeconds = limiter ? await limiter(client) : 0
    if (waitSeconds > 0) {
      countRefusal(context, 'mcp', 'rate limited')
      return failure(`rate limited: try again in ${Math.ceil(waitSeconds)} s`)
    }
    try {
      return outcomeOf(await inTime(context, tool, callOf(context, client, tool, args)), notice)
    } catch (error) {
      return failed(context, tool, error)
    }
  }
}

/** Runs the tool with the common time limit. As with routes, a time-out does not cancel the operation. */
const inTime = (
  { config: { answerTimeoutMs: timeoutMs } }: Context,
  tool: Tool,
  call: ToolCall<never>,
): Promise<unknown> =>
  withTimeout(timeoutMs, handled(tool, call), () => {
    throw new Error(`no answer within ${timeoutMs} ms`)
  })

async function handled(tool: Tool, call: ToolCall<never>): Promise<unknown> {
  const access = accessOf(tool)
  if (access === 'write') return writing(call.context, call, async () => tool.handle(call))
  if (access === 'primary') return tool.handle(call)
  return reading(call.context, call, async (context) => tool.handle({ ...call, context }))
}

function callOf(
  context: Context,
  client: string,
  tool: Tool,
  args: Record<string, unknown>,
): ToolCall<never> {
  const given = givenIn(tool, args)
  const named = given.chain_id === undefined ? undefined : chainIdField.safeParse(given.chain_id)
  if (named?.success === false) throw new MarketError('invalid input', 'invalid chain_id')
  const chain = chainOf(context, named?.data)
  return { context, chain, isChainNamed: named !== undefined, client, input: read(tool, given) as never }
}

/** The arguments that the tool knows. Null and empty values are left out, because some clients fill every field of the schema. */
function givenIn({ input }: Tool, args: Record<string, unknown>): Record<string, unknown> {
  const names = ['chain_id', ...Object.keys((input as z.ZodObject).shape)]
  const isGiven = (name: string) => Object.hasOwn(args, name) && args[name] !== null && args[name] !== ''
  return Object.fromEntries(names.filter(isGiven).map((name) => [name, args[name]]))
}

/** Validates the arguments; the refusal is that of the first bad field. */
function read({ input }: Tool, given: Record<string, unknown>): unknown {
  const result = (input as z.ZodObject).safeParse(given)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const name = String(issue?.path[0])
  if (given[name] === undefined) throw refused('invalid input', `${name} is required`)
  const place = placeOf(issue?.path ?? [])
  if (issue?.message === NEGATIVE) throw refused('invalid input', `${place} ${NEGATIVE}`)
  const { refusal } = ((input as z.ZodObject).shape[name] as z.ZodType | undefined)?.meta() ?? {}
  // Some fields have the full text of a route's refusal, with the kind at its end.
  const text = refusal?.replace(/: invalid input$/, '') ?? `invalid ${place}`
  throw refused('invalid input', text)
}

/** Cache of formatted results by answer buffer: concurrent calls that share a buffer also share its formatted result. */
const shared = new WeakMap<Buffer, Outcome>()

function outcomeOf(answer: unknown, notice: string | undefined): Outcome {
  const success = (json: string): Outcome => {
    const text = notice ? noted(json, notice) : json
    return { text, isError: false, data: JSON.parse(text) }
  }
  if (!Buffer.isBuffer(answer)) return success(typeof answer === 'string' ? answer : JSON.stringify(answer))
  const outcome = shared.get(answer) ?? success(answer.toString())
  shared.set(answer, outcome)
  return outcome
}

function failed(context: Context, { name, hasPlainErrors }: Tool, error: unknown): Outcome {
  const { log } = context
  countRefusal(context, 'mcp', kindOf(error))
  if (!(error instanceof MarketError)) {
    log.error({ tool: name, err: error }, 'a tool failed')
    return failure('internal error')
  }
  if (error.kind === 'unavailable') log.error({ tool: name, err: error }, 'a tool failed')
  const kind = `: ${error.kind}`
  const isPlain = hasPlainErrors && error.message.endsWith(kind)
  return failure(isPlain ? error.message.slice(0, -kind.length) : error.message)
}

const failure = (text: string): Outcome => ({ text, isError: true })
