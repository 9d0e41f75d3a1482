// Converts requests and responses of node:http to those of the web, and back.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { jsonAnswer } from './answers.ts'
import type { ReferralEndpoint } from './endpoint.ts'

/** What frameworks know about a request beyond its headers. */
export interface Known {
  /** The URL before a router took its prefix off. */
  originalUrl?: string | undefined
  /** The protocol as trusted proxies report it. */
  protocol?: string | undefined
  /** What a body parser has made of the body, if one has read it. */
  body?: unknown
}

export async function answer(
  endpoint: ReferralEndpoint,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  known: Known = {},
): Promise<Response> {
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  let request: Request
  try {
    request = requestOf(incoming, known, gone.signal)
  } catch {
    return jsonAnswer(400, { error: 'the request has no valid URL, or headers that are none' })
  }
  return endpoint.fetch(request)
}

export async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.statusCode = response.status
  outgoing.setHeaders(response.headers)
  try {
    if (response.body === null) outgoing.end()
    else await pipeline(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]), outgoing)
  } catch {
    // The buyer has hung up.
  }
}

function requestOf(incoming: IncomingMessage, known: Known, signal: AbortSignal): Request {
  const method = incoming.method ?? 'GET'
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headersDistinct)) {
    if (!name.startsWith(':')) for (const one of value ?? []) headers.append(name, one)
  }
  const init: RequestInit & { duplex: 'half' } = { method, headers, signal, duplex: 'half' }
  if (method !== 'GET' && method !== 'HEAD') init.body = bodyOf(incoming, known.body, headers)
  return new Request(urlOf(incoming, known), init)
}

function urlOf(incoming: IncomingMessage, { originalUrl, protocol }: Known): string {
  const path = originalUrl ?? incoming.url ?? '/'
  // Proxies may be asked with the whole address in the request line.
  if (!path.startsWith('/')) return path
  const isEncrypted = 'encrypted' in incoming.socket && incoming.socket.encrypted === true
  return `${protocol ?? (isEncrypted ? 'https' : 'http')}://${incoming.headers.host ?? 'localhost'}${path}`
}

/** The stream, unless a body parser has read it: then the parsed body, as JSON unless it is text or bytes. */
function bodyOf(incoming: IncomingMessage, parsed: unknown, headers: Headers): BodyInit | null {
  if (!incoming.readableDidRead) return Readable.toWeb(incoming) as ReadableStream<Uint8Array>
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
  if (parsed === undefined) return null
  if (typeof parsed === 'string') return parsed
  if (parsed instanceof Uint8Array) return new Uint8Array(parsed)
  headers.set('content-type', 'application/json')
  return JSON.stringify(parsed)
}
