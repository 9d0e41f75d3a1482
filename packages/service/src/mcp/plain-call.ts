// A call of a tool as almost every client sends it, answered without the SDK: for one short message that takes three times as long as the
// operation. Whatever is not exactly this goes through the SDK and is answered the same.
import type { IncomingHttpHeaders } from 'node:http'
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import type { Outcome } from './calls.ts'

export interface PlainCall {
  id: string | number
  name: string
  args: Record<string, unknown>
}

type Fields = Record<string, unknown>

const KNOWN_PARAMS = new Set(['name', 'arguments', '_meta'])
const VERSIONS = new Set(SUPPORTED_PROTOCOL_VERSIONS)

/** Undefined: it is something else. */
export function plainCallOf(headers: IncomingHttpHeaders, message: unknown): PlainCall | undefined {
  const { jsonrpc, id, method, params } = Object(message) as Fields
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isId(id) || !isFields(params)) return undefined
  const { name, arguments: args = {}, _meta: meta = {} } = params
  if (typeof name !== 'string' || !isFields(args) || !isFields(meta)) return undefined
  if (!Object.keys(params).every((key) => KNOWN_PARAMS.has(key))) return undefined
  // Later revisions of the protocol put themselves there.
  if (!Object.keys(meta).every((key) => key === 'progressToken')) return undefined
  return areUsual(headers) ? { id, name, args } : undefined
}

const isId = (id: unknown): id is string | number => typeof id === 'string' || Number.isSafeInteger(id)

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function areUsual(headers: IncomingHttpHeaders): boolean {
  const { accept = '', 'content-type': type = '', 'mcp-protocol-version': version } = headers
  return (
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    type.startsWith('application/json') &&
    typeof version === 'string' &&
    VERSIONS.has(version)
  )
}

const BEFORE = Buffer.from('{"result":')

/** The one in the middle is shared by all who asked the same at the same moment. */
export type Parts = [before: Buffer, result: Buffer, after: Buffer]

export function plainAnswer({ id }: PlainCall, outcome: Outcome): Parts {
  outcome.result ??= Buffer.from(resultOf(outcome))
  return [BEFORE, outcome.result, Buffer.from(`,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`)]
}

/** The answer of a tool is JSON already. */
function resultOf({ text, isError }: Outcome): string {
  const content = `[{"type":"text","text":${JSON.stringify(text)}}]`
  return `{"content":${content},${isError ? '"isError":true' : `"structuredContent":${text}`}}`
}
