// The parameters of a call: in the query, as JSON, as a form, or as multipart; objects in forms are JSON.
import type { IncomingMessage } from 'node:http'
import { ApiError, badRequest } from './api-error.ts'

export type Params = Record<string, unknown>

const MOST_BYTES = 1_000_000

export async function readParams(request: IncomingMessage, query: URLSearchParams): Promise<Params> {
  const body = await readBody(request)
  const params: Params = Object.fromEntries(query)
  if (body.length === 0) return params
  const type = request.headers['content-type'] ?? ''
  return { ...params, ...(await parseBody(body, type)) }
}

async function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MOST_BYTES) throw new ApiError({ error_code: 413, description: 'Request Entity Too Large' })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function parseBody(body: Buffer<ArrayBuffer>, type: string): Promise<Params> {
  if (type.startsWith('application/json')) {
    const value = parseJson(body.toString(), 'the request body')
    if (!isRecord(value)) throw badRequest('the request body must be a JSON object')
    return value
  }
  if (!/^(application\/x-www-form-urlencoded|multipart\/form-data)\b/.test(type)) return {}
  const form = await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => {
    throw badRequest("can't parse the form")
  })
  return Object.fromEntries(form)
}

export const isRecord = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest(`can't parse ${what}: it is no JSON`)
  }
}

/** Forms have no numbers, and chats may be named by a string of digits in JSON, too. */
export function integer(params: Params, name: string): number | undefined {
  const value = params[name]
  if (value === undefined || value === null || value === '') return undefined
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw badRequest(`${name} must be an integer`)
  return number
}

/** A number in JSON is as good as its digits. */
export function text(params: Params, name: string): string {
  const value = params[name]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

export const flag = (params: Params, name: string): boolean =>
  [true, 'true', 'True', '1'].includes(params[name] as never)

/** Undefined where it is left out. */
export function json(params: Params, name: string): unknown {
  const value = params[name]
  return typeof value === 'string'
    ? value === ''
      ? undefined
      : parseJson(value, name)
    : (value ?? undefined)
}

export function list(params: Params, name: string): unknown[] | undefined {
  const value = json(params, name)
  if (value !== undefined && !Array.isArray(value)) throw badRequest(`${name} must be an Array`)
  return value
}
