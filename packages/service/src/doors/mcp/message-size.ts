// Limits what a message may hold. The MCP SDK validates every part of a message, the arguments of tools too, and lists all issues in its
// answer, so values are counted before it, and before the message is parsed.
import { valuesIn } from '@referrer/process'
import { type BodyLimits, LARGEST_BODY, tooManyValues, USUAL_BODY } from '../../kit/body-limits.ts'

export const sizeOf = (json: Uint8Array): BodyLimits => ({ bytes: json.length, values: valuesIn(json) })

/** What is too much of a message, before it is parsed; undefined when nothing is. */
export const excessOf = (size: BodyLimits): string | undefined => excess(size, LARGEST_BODY)

/** What is too much of a message that was parsed: the arguments of some tools may hold more than usual, the rest of the message may not. */
export function excessFor(
  tools: ReadonlyMap<unknown, { most: BodyLimits | undefined }>,
  json: unknown,
  size: BodyLimits,
): string | undefined {
  if (excess(size, USUAL_BODY) === undefined) return undefined
  const { params, ...others } = Object(json) as Record<string, unknown>
  const { arguments: _, ...more } = Object(params) as Record<string, unknown>
  const most = (others.method === 'tools/call' && tools.get(more.name)?.most) || USUAL_BODY
  return excess(size, most) ?? excess(sizeOf(Buffer.from(textOf([others, more]))), USUAL_BODY)
}

function excess({ bytes, values }: BodyLimits, most: BodyLimits): string | undefined {
  if (bytes > most.bytes) return `the message has more than ${most.bytes} bytes`
  return values > most.values ? tooManyValues(most) : undefined
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    // Nested too deeply for the stack, which no message of ours is.
    return '['.repeat(USUAL_BODY.values + 1)
  }
}
