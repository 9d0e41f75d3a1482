// What the HTTP doors of all programs do alike before a request is anybody's.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

const REQUEST_ID = /^[\w.-]{1,64}$/

const UNREADABLE = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', ['408 Request Timeout', 'request timeout']],
  ['HPE_HEADER_OVERFLOW', ['431 Request Header Fields Too Large', 'request headers too large']],
])

/** The caller's own, where it has a usable one. */
export function requestIdOf({
  headers: { 'x-request-id': given },
}: Pick<IncomingMessage, 'headers'>): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** What is no request at all, or never became one. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  const [status, text] = UNREADABLE.get(error.code ?? '') ?? ['400 Bad Request', 'bad request']
  const body = JSON.stringify({ error: text })
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}`
  if (socket.writable && error.code !== 'ECONNRESET')
    socket.write(`${head}\r\nConnection: close\r\n\r\n${body}`)
  socket.destroy(error)
}
