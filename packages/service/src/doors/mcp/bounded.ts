// What the SDK gets to see. It checks every part of a message and puts whatever is wrong with it into the answer: of two megabytes of wrong parts
// that would be many seconds of work and gigabytes of memory.

/** Of everything but the arguments of a tool, as JSON. */
const MOST_BYTES = 32 * 1024

/** Whether a message of so many bytes is short, but for the arguments of a tool, which the SDK does not look into. */
export function isBounded(message: unknown, bytes: number): boolean {
  if (bytes <= MOST_BYTES) return true
  const { params, ...others } = Object(message) as Record<string, unknown>
  const { arguments: args, ...more } = Object(params) as Record<string, unknown>
  const isOfTool = others.method === 'tools/call' && typeof args === 'object' && !Array.isArray(args)
  return lengthOf([others, more, isOfTool ? null : args]) <= MOST_BYTES
}

function lengthOf(value: unknown): number {
  try {
    return JSON.stringify(value).length
  } catch {
    // Too deep for the stack.
    return Number.POSITIVE_INFINITY
  }
}
