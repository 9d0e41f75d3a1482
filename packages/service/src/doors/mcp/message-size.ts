// Limits the size of messages for the MCP SDK. The SDK validates every part of a message and lists all issues in its answer: for two
// megabytes of invalid parts that takes many seconds and gigabytes of memory.

/** Size limit for a message without the arguments of a tool, as JSON. */
const MOST_BYTES = 32 * 1024

/** Whether a message of `bytes` bytes is small enough. The arguments of a tool do not count, because the SDK does not validate them. */
export function isSmallEnough(message: unknown, bytes: number): boolean {
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
    // The value is nested too deeply for the stack.
    return Number.POSITIVE_INFINITY
  }
}
